// A call of this program as a child process that cannot outlive it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace addp {

class Child {
 public:
  // Standard output and error go to files, which are begun anew. The kernel kills the child when
  // the thread that made it ends, however that ends.
  Child(const std::vector<std::string>& words, const std::filesystem::path& output,
        const std::filesystem::path& errors);
  // Kills it where it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;

  struct End {
    int code = 0;             // 128 and the signal where one ended it
    double core_seconds = 0;  // of it and of the processes it waited for
  };
  // Nothing while it runs.
  std::optional<End> ended();
  void interrupt() const;  // asks for an orderly end

 private:
  pid_t id_ = -1;
};

// This program's file, to be called again.
std::string this_program();

}  // namespace addp
