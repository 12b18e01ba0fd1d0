#include "server/requests/openapi.h"

#include "base/version.h"
#include "server/requests/describe.h"
#include "server/requests/requests.h"

namespace addp {
namespace {

using nlohmann::json;

json answer(const char* description, const char* type = "application/json") {
  return {{"description", description},
          {"content",
           {{type,
             {{"schema",
               {{"type", type == std::string("application/json") ? "object" : "string"}}}}}}}};
}

json responses(const char* description, const char* type = "application/json") {
  return {{"200", answer(description, type)},
          {"400", answer("what is wrong with the request")},
          {"503", answer("the queue is full; Retry-After says when to ask again")}};
}

json get(const char* summary, const char* type = "application/json") {
  return {{"get", {{"summary", summary}, {"responses", {{"200", answer(summary, type)}}}}}};
}

json object(json properties, std::vector<std::string> required = {}) {
  json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

json post(const char* summary, json body, const char* answer_text) {
  return {{"post",
           {{"summary", summary},
            {"requestBody", {{"required", true}, {"content", std::move(body)}}},
            {"responses", responses(answer_text)}}}};
}

json json_body(json schema) { return {{"application/json", {{"schema", std::move(schema)}}}}; }

// With pictures: as JSON with base64 in it, or as a form with files.
json picture_body(json properties, const std::vector<const char*>& files) {
  json form = properties;
  for (const char* name : files) {
    properties[name] = {{"type", "string"}, {"contentEncoding", "base64"}};
    form[name] = {{"type", "string"}, {"format", "binary"}};
  }
  return {{"application/json", {{"schema", object(properties, {"image"})}}},
          {"multipart/form-data", {{"schema", object(form, {"image"})}}}};
}

json recognition(const char* summary, json properties, const char* answer_text) {
  json body = picture_body(std::move(properties), {"image"});
  for (const char* type : {"image/png", "image/jpeg", "image/webp"}) {
    body[type] = {{"schema", {{"type", "string"}, {"format", "binary"}}}};
  }
  return post(summary, std::move(body), answer_text);
}

json with_openai_fields(json properties) {
  properties["prompt"] = {{"type", "string"},
                          {"description", "a class that it names is asked for"}};
  properties["size"] = {{"type", "string"}, {"description", "auto, or the model's own"}};
  properties["response_format"] = {{"type", "string"}, {"enum", {"b64_json", "url"}}};
  properties.erase("stream");
  return properties;
}

}  // namespace

json openapi_json() {
  const json make = schema_of<MakeRequest>(), edit = schema_of<EditRequest>();
  json paths = {
      {"/api/generate", post("make pictures", json_body(object(make)), "pictures, or events")},
      {"/api/inpaint", post("fill in a part of a picture, or what lies around it",
                            picture_body(edit, {"image", "mask"}), "variants, or events")},
      {"/api/classify", recognition("the most likely classes", schema_of<ClassifyRequest>(),
                                    "classes with probabilities")},
      {"/api/detect", recognition("the things in a picture", schema_of<DetectRequest>(),
                                  "boxes, masks and classes")},
      {"/api/segment", recognition("the class of every pixel", schema_of<SegmentRequest>(),
                                   "a label map and shares")},
      {"/api/features", recognition("the encoder's feature of a picture",
                                    schema_of<FeaturesRequest>(), "a list of numbers")},
      {"/api/neighbours", recognition("the pictures of --data that are most alike",
                                      schema_of<NeighboursRequest>(), "names and thumbnails")},
      {"/v1/models", get("the models, as OpenAI lists them")},
      {"/v1/images/generations", post("make pictures, in OpenAI's form",
                                      json_body(object(with_openai_fields(make))), "pictures")},
      {"/v1/images/edits",
       post("edit a picture, in OpenAI's form",
            picture_body(with_openai_fields(edit), {"image", "mask"}), "pictures")},
      {"/api/models", get("models, settings and limits")},
      {"/api/palette", get("the colours of a model's tokens")},
      {"/api/runs", get("trainings below --watch")},
      {"/api/runs/log", get("lines of a training's log")},
      {"/api/runs/picture", get("a picture of a training", "image/png")},
      {"/healthz", get("whether the service is there")},
      {"/metrics", get("figures for Prometheus", "text/plain")}};
  return {
      {"openapi", "3.1.0"},
      {"info", {{"title", "addp"}, {"version", std::string(version())}}},
      {"paths", paths},
      {"components", {{"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
      {"security", {json::object(), {{"token", json::array()}}}}};
}

}  // namespace addp
