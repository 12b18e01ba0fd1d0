// addp reproduce: the paper's tables and figures, made again at the size of this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/option/options.h"
#include "base/run/run_context.h"

namespace addp {

struct ReproduceOptions {
  std::string data, dense, maps;
  std::string scale = "nano";
  std::vector<std::string> only;
  std::int64_t seeds = 2;
  std::filesystem::path out = "runs/reproduce";
  std::int64_t jobs = 0, threads = 1;
  bool dry_run = false, measure = true;
  std::string tokenizer, predictor, addp;
  double length = 1;
  std::int64_t samples = 0;
  std::filesystem::path document, discussion;
  std::vector<std::string> earlier;
  std::string as = "png";
  std::string launcher;
  std::int64_t processes = 1;

  void describe(Options& o) {
    o.group("What to learn from");
    o.add("data", data, "pictures in one folder per class; empty: the procedural set")
        .metavar("DATA");
    o.add("dense", dense, "boxes with masks (COCO), for detection; empty: none, or the procedural")
        .metavar("DATA");
    o.add("maps", maps, "label maps, for segmentation; empty: the masks of --dense")
        .metavar("DATA");
    o.add("tokenizer", tokenizer, "a ready tokenizer, by path or name; empty: trained")
        .metavar("MODEL");
    o.add("predictor", predictor, "a ready predictor (MAGE) for that tokenizer; empty: trained")
        .metavar("MODEL");
    o.add("addp", addp,
          "a ready ADDP for that predictor, for all but the ablations; empty: trained")
        .metavar("MODEL");
    o.group("What to make again, and how well");
    o.add("scale", scale, "mini, nano, tiny or paper: size of pictures and networks, length of all")
        .metavar("NAME");
    o.add(
         "only", only,
         "main, input, condition, mapping, tokens, target, schedule, resnet, robustness, sampling, "
         "labels, probe, pictures; empty: all")
        .metavar("STUDY,..");
    o.add("seeds", seeds, "of the main comparison and of most ablations").range(1, 100);
    o.add("length", length, "of every training, over the scale's: 0.1 is a tenth of the steps")
        .range(1e-6, 1000);
    o.add("samples", samples, "pictures of a FID; 0: the scale's").range(0, 1e9);
    o.add("as", as,
          "pictures of a FID as files of this format hold them: png, jpg:QUALITY or webp:QUALITY; "
          "give that of --data")
        .metavar("FORMAT");
    o.group("How to run it, and where to put it");
    o.add("out", out, "folder for everything; called again, it goes on there");
    o.add("earlier", earlier,
          "results.json of other folders or machines: jobs that are done there are not run again")
        .metavar("FILE.json,..");
    o.add("jobs", jobs, "calls side by side; 0: one per core").range(0, 4096);
    o.add("threads", threads, "of each call").range(1, 4096);
    o.add("dry-run", dry_run, "print the plan and stop");
    o.add("measure", measure, "measure a few steps of everything first, to say how long it takes");
    o.add("document", document, "also write a Markdown document, with its figures in images/")
        .metavar("FILE.md");
    o.add("discussion", discussion, "Markdown paragraphs that the page and the document begin with")
        .metavar("FILE.md");
    o.add("processes", processes, "processes of each training").range(1, 1024).advanced();
    o.add("launcher", launcher, "words before each training: torchrun or srun with their options")
        .metavar("WORDS")
        .advanced();
  }
};

void run(const ReproduceOptions& options, const RunContext& context);

}  // namespace addp
