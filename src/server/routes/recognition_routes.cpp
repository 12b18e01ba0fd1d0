// /api/classify, /api/detect, /api/segment, /api/features and /api/neighbours.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/file/base64.h"
#include "data/coco/coco_results.h"
#include "image/codec/codec.h"
#include "image/draw/draw.h"
#include "image/draw/overlay.h"
#include "nn/torch.h"
#include "server/jobs/recognition_jobs.h"
#include "server/requests/describe.h"
#include "server/requests/pictures.h"
#include "server/requests/requests.h"
#include "server/routes/picture_answers.h"
#include "server/routes/route.h"

namespace addp {
namespace {

using nlohmann::json;

Image uploaded(Fields& fields) {
  Image image = decode_upload(
      fields.file("image", "the picture: as the body, as a file of a form or in base64"), "image");
  fields.files.clear();
  return image;
}

json answer_head(const HostedModel& model, const Image& picture) {
  return {{"model", model.name}, {"width", picture.width}, {"height", picture.height}};
}

// A request about a picture: what was sent, what is wanted, and of which model.
template <class Request>
struct Asked {
  Image picture;
  Request request;
  const HostedModel& model;
};

// `can` tells the models that will do, `what` says in words what they must be able to do.
template <class Request>
Asked<Request> take_request(const ServiceContext& context, Fields& fields,
                            bool (*can)(const HostedModel&), const char* what) {
  Image picture = uploaded(fields);
  Request request = parse_request<Request>(fields);
  const HostedModel& model = context.shelf.find(request.model, can, what);
  return {std::move(picture), std::move(request), model};
}

// What the queue makes of a job.
template <class OneJob, class... Arguments>
auto result_of(ServiceContext& context, Arguments&&... arguments) {
  const auto job = std::make_shared<OneJob>(std::forward<Arguments>(arguments)...);
  wait_for(context, job);
  return job->result();
}

std::string hex(const Color& color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
}

json classify(ServiceContext& context, Fields& fields) {
  const auto [picture, request, model] = take_request<ClassifyRequest>(
      context, fields, [](const HostedModel& m) { return m.classifier != nullptr; },
      "name a picture's class");
  const ClassifierConfig& config = model.classifier->config();
  const std::vector<float> probabilities = result_of<ClassifyJob>(
      context, model, middle_square(picture, config.picture_size(), config.crop));
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return probabilities[a] > probabilities[b];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(request.top)));
  json answer = answer_head(model, picture);
  answer["classes"] = json::array();
  const std::vector<std::string> names = model.class_names();
  for (const std::size_t i : order) {
    answer["classes"].push_back(
        {{"class", i}, {"name", names.at(i)}, {"probability", probabilities[i]}});
  }
  return answer;
}

json detect(ServiceContext& context, Fields& fields) {
  const auto [picture, request, model] = take_request<DetectRequest>(
      context, fields, [](const HostedModel& m) { return m.detector != nullptr; },
      "find things in pictures");
  const DetectorLimits limits{
      .score = request.score, .nms = request.nms, .count = request.count, .views = request.views};
  const DetectorConfig& config = model.detector->config();
  json answer = answer_head(model, picture);
  answer["detections"] = json::array();
  for (const Detection& found : result_of<DetectJob>(context, model, picture, limits)) {
    const auto kind = static_cast<std::size_t>(found.class_id);
    json one = coco_results_to_json({to_coco(found, 0, config.category_ids.at(kind))})[0];
    one["class"] = found.class_id;
    one["name"] = config.class_names.at(kind);
    one["area"] = rle_area(found.mask);
    one["color"] = hex(distinct_color(found.class_id));
    one.erase("image_id");
    answer["detections"].push_back(one);
  }
  return answer;
}

json segment(ServiceContext& context, Fields& fields) {
  const auto [picture, request, model] = take_request<SegmentRequest>(
      context, fields, [](const HostedModel& m) { return m.segmenter != nullptr; },
      "name the class of every pixel");
  const GrayImage labels = result_of<SegmentJob>(context, model, picture);
  std::array<std::int64_t, 256> counts{};
  for (const std::uint8_t label : labels.pixels) ++counts[label];
  json answer = answer_head(model, picture);
  answer["labels"] = base64(encode_png(labels));
  answer["classes"] = json::array();
  const std::vector<std::string>& names = model.segmenter->config().class_names;
  for (std::size_t label = 0; label < names.size() && label < counts.size(); ++label) {
    if (counts[label] == 0) continue;
    answer["classes"].push_back({{"class", label},
                                 {"name", names[label]},
                                 {"share", double(counts[label]) / double(labels.pixels.size())},
                                 {"color", nullptr}});
    const auto color = label_color(static_cast<int>(label), names);
    if (color) answer["classes"].back()["color"] = hex(*color);
  }
  return answer;
}

json features(ServiceContext& context, Fields& fields) {
  const auto [picture, request, model] = take_request<FeaturesRequest>(
      context, fields, [](const HostedModel& m) { return m.has_encoder(); }, "give features");
  json answer = answer_head(model, picture);
  answer["feature"] =
      result_of<FeaturesJob>(context, model, middle_square(picture, model.encoder.size));
  return answer;
}

json neighbours(ServiceContext& context, Fields& fields) {
  const Image picture = uploaded(fields);
  const auto request = parse_request<NeighboursRequest>(fields);
  if (context.neighbours == nullptr) {
    throw HttpError(404, "there are no pictures to compare with; start the server with --data");
  }
  const HostedModel& model = context.neighbours->model();
  if (!request.model.empty() && request.model != model.name) {
    throw HttpError(400, "the pictures were looked at by '{}' only", model.name);
  }
  const std::vector<float> feature =
      result_of<FeaturesJob>(context, model, middle_square(picture, model.encoder.size));
  json answer = answer_head(model, picture);
  answer["known"] = context.neighbours->known();
  answer["total"] = context.neighbours->total();
  answer["complete"] = context.neighbours->complete();
  answer["neighbours"] = json::array();
  for (const Neighbour& one : context.neighbours->nearest(feature, request.count)) {
    answer["neighbours"].push_back({{"name", one.name},
                                    {"similarity", one.similarity},
                                    {"image", jpeg_address(one.thumbnail)}});
  }
  return answer;
}

using Recogniser = json (*)(ServiceContext&, Fields&);

}  // namespace

void add_recognition_routes(HttpServer& server, ServiceContext& context) {
  const std::pair<const char*, Recogniser> routes[] = {{"classify", classify},
                                                       {"detect", detect},
                                                       {"segment", segment},
                                                       {"features", features},
                                                       {"neighbours", neighbours}};
  for (const auto& [name, recogniser] : routes) {
    add_post(server, context, std::string("/api/") + name,
             [&context, recogniser = recogniser, name = std::string(name)](
                 Fields& fields, httplib::Response& response) {
               answer_json(response, recogniser(context, fields));
               context.metrics.count_pictures(name, 1);
             });
  }
}

}  // namespace addp
