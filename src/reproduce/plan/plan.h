// A graph of calls of this program. A job is written down with the folders of other jobs in its
// words, and needs those jobs; nothing else says so a second time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace addp {

// The folder of a job, and the folder of everything, in a word of a call. The marks are control
// characters, which no option takes.
std::string in_folder(const std::string& job);
std::string in_out(const std::string& path);

struct StudyJob {
  std::string name;                // "addp-argmax.2": what is trained or measured, and the seed
  std::string kind;                // jobs of one kind take the same time per unit: "train addp"
  std::vector<std::string> words;  // of the call, without the program's name
  // The option whose value is the length of the work ("--steps", "--count"); empty: none.
  std::string length_option{};
  bool training = false;  // goes through --launcher and may have several processes
};

// The value of the job's length option; 1 where it has none.
double units_of(const StudyJob& job);

class Plan {
 public:
  // Its name. The jobs it needs must be there already; a job of the same name is the same job.
  std::string add(StudyJob job);
  // Needs come before what needs them.
  const std::vector<StudyJob>& jobs() const { return jobs_; }
  const StudyJob& job(const std::string& name) const;
  std::vector<std::string> needs(const StudyJob& job) const;
  // Tells apart what a job computes: its words, and the keys of what it needs.
  std::string key(const std::string& name) const { return keys_.at(name); }

  // A word that names something from outside, and what tells its content: that stands in the keys
  // of jobs with it, not the place, which is another one on other machines.
  void add_outside(const std::string& word, const std::string& digest) { outside_[word] = digest; }

  // Files that jobs take, by their path in the folder of everything. Paths hold a digest of the
  // content, so that a job with another file is another job.
  std::string add_file(const std::string& stem, const std::string& ending,
                       const std::string& content);
  // The same of a recipe: with other comments it is the same file.
  std::string add_recipe(const std::string& stem, const std::string& toml);
  void take_file(const std::string& path, const std::string& content) { files_[path] = content; }
  const std::map<std::string, std::string>& files() const { return files_; }

 private:
  std::vector<StudyJob> jobs_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::string> keys_, files_, outside_;
};

// A word with the marks replaced: `folder_of` gives the folder of a job.
template <class FolderOf>
std::string placed(const std::string& word, const std::string& out, const FolderOf& folder_of) {
  std::string text;
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (word[at] == '\x1e') {
      text += out;
    } else if (word[at] == '\x1f') {
      const std::size_t end = word.find('\x1f', at + 1);
      text += folder_of(word.substr(at + 1, end - at - 1));
      at = end;
    } else {
      text += word[at];
    }
  }
  return text;
}

}  // namespace addp
