// What every training run has in common. Free of libtorch: the program reads it for --help.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/option/options.h"
#include "machine/compute_options.h"

namespace addp {

struct TrainOptions {
  std::string data;
  std::filesystem::path out;
  std::int64_t size = 256;

  std::int64_t steps = 0;
  double epochs = 0;
  std::int64_t batch_size = 256;
  std::int64_t accumulate = 1;
  std::int64_t seed = 0;

  double blr = 1e-4;
  double lr = 0;
  double min_lr = 0;
  double warmup_epochs = 0;
  std::int64_t warmup_steps = 0;
  double weight_decay = 0.05;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double clip = 0;
  double ema = 0;

  Precision precision = Precision::kAuto;
  ComputeOptions compute;
  std::int64_t workers = 0;
  std::int64_t processes = 1;

  std::int64_t save_every = 500;
  std::int64_t keep_every = 0;
  std::int64_t log_every = 10;
  std::int64_t picture_every = 500;
  std::int64_t eval_every = 0;
  bool resume = true;

  // Without `pictures`: of a stage that learns from no data set.
  void describe(Options& o, bool pictures = true) {
    o.group("What to learn from, and where to put it");
    if (pictures) {
      o.add("data", data,
            "a folder, a file list, an archive (.tar, .tar.gz, .zip), shards (set-{000..099}.tar), "
            "or 'shapes' for the procedural set")
          .required()
          .metavar("DATA");
    }
    o.add("out", out, "folder for the model, checkpoints, logs and pictures").required();
    if (pictures) {
      o.add("size", size, "side of the training pictures in pixels").range(8, 4096);
    }
    o.group("How long");
    if (pictures) {
      o.add("steps", steps, "optimizer steps; 0: as many as --epochs says").range(0, 1e12);
      o.add("epochs", epochs, "passes over the data, where --steps is 0").range(0, 1e6);
    } else {
      o.add("steps", steps, "optimizer steps").range(1, 1e12);
    }
    o.add("batch-size", batch_size, "pictures per step, over all processes").range(1, 1e6);
    o.add("accumulate", accumulate, "parts that a batch is computed in, to save memory")
        .range(1, 4096)
        .alias("accum-iter")
        .advanced();
    o.add("seed", seed, "of everything random").range(0, 9e15).advanced();
    o.advanced_group("Optimizer");
    o.add("blr", blr, "base learning rate: the rate is blr * batch / 256").range(0, 1000).common();
    o.add("lr", lr, "learning rate; 0: from --blr").range(0, 1000);
    o.add("min-lr", min_lr, "where the cosine ends").range(0, 1000);
    if (pictures) {
      o.add("warmup-epochs", warmup_epochs, "linear warm-up, in epochs").range(0, 1e6);
    }
    o.add("warmup-steps", warmup_steps,
          pictures ? "linear warm-up, in steps; 0: from --warmup-epochs"
                   : "linear warm-up, in steps")
        .range(0, 1e12);
    o.add("weight-decay", weight_decay, "on parameters of two or more dimensions").range(0, 10);
    o.add("beta1", beta1, "AdamW").range(0, 0.999999);
    o.add("beta2", beta2, "AdamW").range(0, 0.999999);
    o.add("clip", clip, "largest gradient norm; 0: not clipped").range(0, 1e9).alias("clip-grad");
    o.add("ema", ema, "decay of the averaged weights that the final model holds; 0: none")
        .range(0, 1);
    o.group("Machine");
    describe_precision(o, precision);
    compute.describe(o);
    if (pictures) {
      o.add("workers", workers, "threads that read pictures; 0: one per core")
          .range(0, 4096)
          .advanced();
    }
    o.add("processes", processes, "processes to start on this machine").range(1, 1024);
    o.advanced_group("Records");
    o.add("save-every", save_every, "steps between checkpoints").range(1, 1e12);
    o.add("keep-every", keep_every,
          "keep a checkpoint for good every so many steps; 0: only last and best")
        .range(0, 1e12);
    o.add("log-every", log_every, "steps between lines of log.jsonl").range(1, 1e12);
    o.add("picture-every", picture_every, "steps between pictures of what the model does; 0: never")
        .range(0, 1e12);
    o.add("eval-every", eval_every, "steps between evaluations; 0: at the end only").range(0, 1e12);
    o.add("resume", resume, "continue from the checkpoint in --out if there is one");
  }
};

}  // namespace addp
