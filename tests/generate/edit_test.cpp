// Filling in: what stays, what is replaced, and where it meets plain generation.
#include "generate/edit.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "diffusion/addp_file.h"
#include "generate/trajectory.h"
#include "model/init.h"
#include "nn/layer/picture_tensor.h"
#include "nn/torch.h"
#include "support/temporary_folder.h"

namespace addp {
namespace {

// A model with random weights, through a file, as every user of a generator gets it.
Generator small_generator(bool predictor = false) {
  const testing::TemporaryFolder folder;
  const auto tokenizer = std::make_shared<Vqgan>(VqganConfig{
      .channels = 8, .multipliers = {1, 1, 2}, .blocks = 1, .codes = 24, .code_width = 6});
  initialise_vqgan(*tokenizer, RandomStream(1, "tokenizer"));
  fill_normal(tokenizer->named_parameters()["quantize.embedding.weight"], 1,
              RandomStream(1, "codes"));
  const Vocabulary words{.codes = 24, .class_ids = 3};
  const char* provenance = R"({"classes": ["cat", "dog"]})";
  if (predictor) {
    MageConfig config = mage_preset("nano", words, {4, 4});
    config.depth = config.decoder_depth = 1;
    const auto mage = std::make_shared<Mage>(config);
    initialise(*mage, RandomStream(1, "mage"));
    save_predictor(folder.path() / "model.safetensors", *mage, *tokenizer, provenance);
  } else {
    AddpConfig config = addp_preset("nano", words, {4, 4}, 4);
    config.encoder.vit.depth = config.decoder_depth = 1;
    const auto addp = std::make_shared<Addp>(config);
    initialise(*addp, RandomStream(1, "addp"));
    save_addp(folder.path() / "model.safetensors", *addp, *tokenizer, provenance);
  }
  return Generator::open(folder.path());
}

Image noise_picture(int width, int height) {
  Image image(width, height);
  RandomStream random(3, "picture");
  for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.integer(0, 255));
  return image;
}

EditOptions options_of(std::int64_t count, std::int64_t steps = 6) {
  EditOptions options;
  options.generation.count = count;
  options.generation.sampler.steps = steps;
  return options;
}

void expect_visible_unchanged(const EditTask& task, const Image& made) {
  ASSERT_EQ(made.width, task.picture.width);
  ASSERT_EQ(made.height, task.picture.height);
  for (std::size_t i = 0; i < task.hidden.pixels.size(); ++i) {
    if (task.hidden.pixels[i] != 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(made.pixels[3 * i + c], task.picture.pixels[3 * i + c]) << "pixel " << i;
    }
  }
}

TEST(Edit, VisiblePixelsStayBitForBit) {
  const Generator model = small_generator();
  for (const auto& [width, height] : {std::pair{16, 16}, {50, 37}, {90, 20}, {9, 30}}) {
    const Image picture = noise_picture(width, height);
    const EditTask boxed = hide_box(picture, {3, 4, width / 2, height / 2});
    EditOptions options = options_of(2);
    options.fill.feather = 2;
    const auto variants = fill_in(boxed, model, options);
    ASSERT_EQ(variants.size(), 2U);
    for (const auto& made : variants) expect_visible_unchanged(boxed, made);
    EXPECT_NE(variants[0], picture);
    EXPECT_NE(variants[0], variants[1]);
    const EditTask wider = extend(picture, {.left = 5, .top = 0, .right = 7, .bottom = 3});
    EXPECT_EQ(wider.picture.width, width + 12);
    expect_visible_unchanged(wider, fill_in(wider, model, options)[0]);
  }
}

TEST(Edit, ASecondPassSeesTheFirstResult) {
  const Generator model = small_generator();
  const EditTask task = hide_box(noise_picture(16, 16), {4, 4, 8, 8});
  EditOptions options = options_of(1);
  options.fill.match = false;
  options.fill.passes = 1;
  const Image first = fill_in(task, model, options)[0];
  options.fill.passes = 2;
  const Image second = fill_in(task, model, options)[0];
  expect_visible_unchanged(task, second);
  // The second pass by hand: the first result in place of the hidden pixels' mean.
  const EditPlan plan = plan_edit(task, model);
  torch::NoGradGuard guard;
  const Tensor pixels = to_tensor(first).unsqueeze(0);
  const SamplerStart start{.tokens = model.tokenizer().encode(pixels),
                           .masked = plan.hidden.unsqueeze(0),
                           .grid = plan.grid,
                           .pixels = pixels};
  const Image made = to_images(model.complete(start, {0}, options.generation).pixels)[0];
  for (int y = 4; y < 12; ++y) {
    for (int x = 4; x < 12; ++x) {
      for (int c = 0; c < 3; ++c) ASSERT_EQ(second.at(x, y)[c], made.at(x, y)[c]);
    }
  }
}

TEST(Edit, ALargerCanvasContinuesTheOutermostPixels) {
  const Image picture = noise_picture(6, 5);
  const EditTask task = extend(picture, {.left = 2, .top = 1, .right = 3, .bottom = 0});
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(task.picture.at(0, 0)[c], picture.at(0, 0)[c]);
    EXPECT_EQ(task.picture.at(10, 3)[c], picture.at(5, 2)[c]);
    EXPECT_EQ(task.picture.at(2, 1)[c], picture.at(0, 0)[c]);
  }
}

TEST(Edit, NothingHiddenReturnsTheInput) {
  const Generator model = small_generator();
  const Image picture = noise_picture(20, 31);
  const auto made = fill_in(hide_mask(picture, GrayImage(7, 7)), model, options_of(3));
  ASSERT_EQ(made.size(), 3U);
  for (const auto& image : made) EXPECT_EQ(image, picture);
}

TEST(Edit, AllHiddenIsGeneration) {
  const Generator model = small_generator();
  const Image picture = noise_picture(model.width(), model.height());
  const EditOptions options = options_of(2);
  const auto made = fill_in(hide_box(picture, {0, 0, 1000, 1000}), model, options);
  const auto generated = to_images(model.sample({0, 1}, options.generation).pixels);
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0], generated[0]);
  EXPECT_EQ(made[1], generated[1]);
}

TEST(Edit, TokensUnderAnyHiddenPixelAreHidden) {
  const Generator model = small_generator();
  const Image picture = noise_picture(16, 16);  // the network's own size: 4x4 tokens of 4 pixels
  const EditPlan plan = plan_edit(hide_box(picture, {4, 3, 1, 2}), model);
  EXPECT_EQ(plan.window, (PixelBox{0, 0, 16, 16}));
  const Tensor expected = torch::zeros({4, 4}, torch::kBool);
  expected[0][1] = expected[1][1] = true;
  EXPECT_TRUE(plan.hidden.equal(expected.flatten()));
  // The hidden pixels hold the mean of the others.
  const Tensor all = to_tensor(picture) * 255;
  const Tensor hidden = torch::zeros({16, 16});
  hidden.slice(0, 3, 5).slice(1, 4, 5).fill_(1);
  const Tensor mean = ((1 - hidden) * all).sum({1, 2}) / (1 - hidden).sum();
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(plan.filled.at(4, 3)[c], mean[c].item<double>(), 0.51);
  }
}

TEST(Edit, WindowsHoldTheHiddenPart) {
  const Generator model = small_generator();
  const EditPlan corner = plan_edit(hide_box(noise_picture(200, 100), {180, 5, 20, 30}), model);
  EXPECT_EQ(corner.window.width, 60);
  EXPECT_EQ(corner.window.right(), 200);
  EXPECT_EQ(corner.window.top, 0);
  EXPECT_EQ(corner.grid, (Grid{4, 4}));
  const EditPlan wide = plan_edit(hide_box(noise_picture(200, 100), {10, 5, 150, 30}), model);
  EXPECT_EQ(wide.window, (PixelBox{0, 0, 200, 100}));
  EXPECT_EQ(wide.grid, (Grid{4, 8}));
}

TEST(Edit, WindowsShowSomethingVisibleWhereThereIsSomething) {
  const Generator model = small_generator();
  const auto share_hidden = [&](const EditTask& task) {
    return plan_edit(task, model).hidden.to(torch::kFloat).mean().item<double>();
  };
  const EditTask doubled = extend(noise_picture(16, 16), {.left = 16});
  EXPECT_EQ(plan_edit(doubled, model).window, (PixelBox{0, 0, 32, 16}));
  EXPECT_NEAR(share_hidden(doubled), 0.5, 1e-6);
  const EditTask band = hide_box(noise_picture(64, 200), {0, 50, 64, 64});
  EXPECT_EQ(plan_edit(band, model).window, (PixelBox{0, 18, 64, 128}));
  EXPECT_EQ(plan_edit(band, model).grid, (Grid{8, 4}));
  const EditTask tall = hide_box(noise_picture(100, 300), {30, 100, 40, 100});
  EXPECT_EQ(plan_edit(tall, model).window, (PixelBox{0, 50, 100, 200}));
  EXPECT_LT(share_hidden(hide_box(noise_picture(1, 30), {0, 9, 1, 1})), 0.5);
}

TEST(Edit, WhatIsHiddenDoesNotShowInTheResult) {
  const Generator model = small_generator();
  const Image picture = noise_picture(16, 16);
  EditOptions options = options_of(1);
  options.fill.feather = 2;
  const EditTask task = hide_box(picture, {2, 2, 12, 12});
  EditTask other = task;
  for (std::size_t i = 0; i < other.hidden.pixels.size(); ++i) {
    if (other.hidden.pixels[i] != 0) other.picture.pixels[3 * i] ^= 0xFF;
  }
  const Image made = fill_in(task, model, options)[0], again = fill_in(other, model, options)[0];
  for (int y = 4; y < 12; ++y) {  // from the fading rim inwards
    for (int x = 4; x < 12; ++x) {
      for (int c = 0; c < 3; ++c) ASSERT_EQ(made.at(x, y)[c], again.at(x, y)[c]);
    }
  }
}

TEST(Edit, CallbacksSeeTheStepsOfAllPassesAsOneRun) {
  const Generator model = small_generator();
  EditOptions options = options_of(1);
  options.fill.passes = 3;
  for (const PixelBox& box : {PixelBox{4, 4, 3, 3}, {0, 0, 16, 12}, {0, 0, 16, 16}}) {
    const EditTask task = hide_box(noise_picture(16, 16), box);
    const std::int64_t all = steps_of(plan_edit(task, model), options);
    EXPECT_EQ(all % (box.height < 16 ? 3 : 1), 0);
    std::int64_t seen = 0;
    const SamplerHooks hooks{.on_step = [&](const SamplerStep& step) {
      EXPECT_EQ(step.step, seen++);
      EXPECT_EQ(step.steps, all);
    }};
    fill_in(task, model, options, hooks);
    EXPECT_EQ(seen, all);
  }
  options.fill.passes = 0;
  EXPECT_THROW(fill_in(hide_box(noise_picture(16, 16), {4, 4, 3, 3}), model, options), UsageError);
}

TEST(Edit, ABoxHasFourNumbers) {
  EXPECT_EQ(box_of({1, 2, 3, 4}), (PixelBox{1, 2, 3, 4}));
  EXPECT_THROW(box_of({1, 2, 3}), UsageError);
}

TEST(Edit, ABoxOutsideIsRefused) {
  EXPECT_THROW(hide_box(noise_picture(8, 8), {8, 0, 3, 3}), UsageError);
}

TEST(Edit, SmallMasksBeginLate) {
  const SamplerOptions options{.steps = 20};
  EXPECT_EQ(first_step(64, 64, options), 0);
  EXPECT_EQ(first_step(1, 64, options), 19);
  std::int64_t before = 20;
  for (std::int64_t unknown = 1; unknown <= 64; ++unknown) {
    const std::int64_t step = first_step(unknown, 64, options);
    EXPECT_LE(step, before);
    EXPECT_LE(still_masked(64, step, options), unknown) << "the first step reveals something";
    before = step;
  }
}

TEST(Generator, PredictorsSampleAndClassesHaveNames) {
  for (const bool predictor : {false, true}) {
    const Generator model = small_generator(predictor);
    EXPECT_EQ(model.is_addp(), !predictor);
    EXPECT_EQ(model.find_class("dog"), 1);
    EXPECT_EQ(model.find_class("0"), 0);
    EXPECT_THROW(model.find_class("cow"), UsageError);
    GenerationPlan plan;
    plan.count = 5;
    plan.batch = 2;
    plan.sampler.steps = 3;
    std::vector<Tensor> all;
    model.sample_all(plan, [&](std::int64_t, const Tensor& pixels) { all.push_back(pixels); });
    EXPECT_EQ(torch::cat(all).sizes().vec(), (std::vector<std::int64_t>{5, 3, 16, 16}));
    plan.label = 1;
    plan.sampler.guidance = 3;
    EXPECT_FALSE(model.sample({0}, plan).pixels.equal(all[0].slice(0, 0, 1)));
  }
}

TEST(Trajectory, ShowsEveryStep) {
  const Generator model = small_generator();
  Trajectory trajectory(model.tokenizer(), model.grid());
  GenerationPlan plan;
  plan.sampler.steps = 5;
  const Samples samples = model.sample(
      {0, 1}, plan, {.on_step = [&](const SamplerStep& step) { trajectory.add(step); }});
  const auto& frames = trajectory.frames(1);
  ASSERT_EQ(frames.size(), 5U);
  EXPECT_EQ(frames.back().pixels, to_image(samples.pixels[1]));
  EXPECT_EQ(frames.back().reliable, frames.back().pixels) << "everything is reliable at the end";
  EXPECT_NE(frames.front().reliable, frames.front().pixels);
  const Image strip = trajectory_strip(frames, 3);
  EXPECT_GE(strip.width, 3 * 16);
  EXPECT_GE(strip.height, 3 * 16);
  EXPECT_EQ(trajectory_animation(frames).size(), 5U);
}

TEST(Trajectory, PrincipalColorsFollowTheSpread) {
  const Tensor vectors = torch::zeros({50, 4});
  vectors.select(1, 2).copy_(torch::linspace(-3, 3, 50));
  vectors.select(1, 0).copy_(torch::linspace(0, 1, 50).square());
  const Tensor colors = principal_colors(vectors);
  EXPECT_EQ(colors.sizes().vec(), (std::vector<std::int64_t>{50, 3}));
  const Tensor red = colors.select(1, 0);
  EXPECT_TRUE((red.diff() >= 0).all().item<bool>());
  EXPECT_NEAR(red[49].item<double>() - red[0].item<double>(), 1, 1e-6);
}

}  // namespace
}  // namespace addp
