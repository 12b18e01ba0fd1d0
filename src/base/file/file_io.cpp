#include "base/file/file_io.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"

namespace addp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{1} << 20;
constexpr std::size_t kLongestName = 255;  // of a file, in bytes

// Opens for reading and returns the size; everything that is not a regular file is refused.
int open_regular(const fs::path& path, std::uint64_t& size) {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    throw DataError("{}: cannot be opened: {}; check the path and its permissions", path,
                    std::strerror(errno));
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    throw DataError("{}: is not a regular file; name a file", path);
  }
  size = static_cast<std::uint64_t>(info.st_size);
  return descriptor;
}

// Closes at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

 private:
  int number_;
};

void read_exactly(int descriptor, void* to, std::uint64_t size, const fs::path& path) {
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, static_cast<char*>(to) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::uint64_t>(got);
  }
  if (done != size) {
    throw DataError("{}: only {} of {} bytes could be read; is the disk or the mount failing?",
                    path, done, size);
  }
}

template <class Container>
Container read_whole(const fs::path& path, std::uint64_t limit) {
  std::uint64_t size = 0;
  const int descriptor = open_regular(path, size);
  const Descriptor file(descriptor);
  if (size > limit) {
    throw DataError("{}: has {} bytes, more than the {} allowed here", path, size, limit);
  }
  Container content(size, typename Container::value_type{});
  read_exactly(descriptor, content.data(), size, path);
  return content;
}

}  // namespace

Bytes read_file(const fs::path& path, std::uint64_t limit) {
  return read_whole<Bytes>(path, limit);
}

std::string read_text_file(const fs::path& path, std::uint64_t limit) {
  return read_whole<std::string>(path, limit);
}

void read_in_pieces(const fs::path& path, const std::function<void(ByteSpan)>& sink) {
  std::uint64_t left = 0;
  const int descriptor = open_regular(path, left);
  const Descriptor file(descriptor);
  Bytes piece;
  while (left > 0) {
    piece.resize(std::min<std::uint64_t>(left, std::uint64_t{1} << 20));
    read_exactly(descriptor, piece.data(), piece.size(), path);
    sink(piece);
    left -= piece.size();
  }
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  std::uint64_t size = 0;
  const int descriptor = open_regular(path, size);
  if (size > 0) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      const int error = errno;
      ::close(descriptor);
      throw RuntimeError("{}: cannot be mapped into memory: {}", path, std::strerror(error));
    }
    data_ = static_cast<const std::uint8_t*>(data);
    size_ = size;
  }
  ::close(descriptor);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  // The process id and a counter keep writers in other processes and threads apart.
  static std::atomic<unsigned> counter{0};
  const std::string suffix = fmt::format(".tmp-{}-{}", ::getpid(), counter++);
  const std::string name = path.filename().string();
  temporary_ = path.parent_path() / (name.substr(0, kLongestName - suffix.size()) + suffix);
  const bool fits = name.size() <= kLongestName;
  if (fits) {
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  if (!fits || (descriptor_ < 0 && errno == ENAMETOOLONG)) {
    throw RuntimeError("{}: the name is too long for a file; choose a shorter one", path_);
  }
  if (descriptor_ < 0) {
    throw RuntimeError("{}: cannot be written: {}; check that the folder exists and is writable",
                       path_, std::strerror(errno));
  }
  buffer_.reserve(kWriteBuffer);
  UnsavedWork::begin();  // an interrupt leaves no half of a file behind
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(temporary_.c_str());
  }
  UnsavedWork::end();
}

void AtomicFile::fail(const char* what) {
  throw RuntimeError(
      "{}: {} failed after {} bytes: {}; the previous file is untouched, "
      "free some space and run again",
      path_, what, written_, std::strerror(errno));
}

void AtomicFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t put = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("writing");
    done += static_cast<std::size_t>(put);
  }
  buffer_.clear();
}

void AtomicFile::write(ByteSpan bytes) {
  written_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t room = kWriteBuffer - buffer_.size();
    const std::size_t take = std::min(room, bytes.size());
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    if (buffer_.size() == kWriteBuffer) flush();
  }
}

void AtomicFile::write(std::string_view text) {
  write(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail("flushing to the disk");
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    ::unlink(temporary_.c_str());
    fail("closing");
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail("renaming into place");
  }
  // The rename itself must survive a power cut: flush the folder as well, where that is possible.
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_file_atomically(const fs::path& path, ByteSpan bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw RuntimeError("{}: the folder cannot be made: {}; choose another place", path,
                       error ? error.message() : "something else has this name");
  }
}

void make_folder_for(const fs::path& file) {
  if (file.has_parent_path()) make_folder(file.parent_path());
}

}  // namespace addp
