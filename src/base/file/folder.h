// Output folders that several processes may want, and that killed ones have left things in.
#pragma once

#include <filesystem>

namespace addp {

// Removes what writers that were killed left in a folder: temporary files of processes that are no
// more.
void remove_leftovers(const std::filesystem::path& folder);

// One process at a time may work in a folder: a RuntimeError where another one does. The lock ends
// with the object or the process, however that ends. File systems without locks have none.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace addp
