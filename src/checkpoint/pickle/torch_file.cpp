#include "checkpoint/pickle/torch_file.h"

#include <map>
#include <string_view>

#include "base/error.h"
#include "checkpoint/format/byte_reader.h"
#include "checkpoint/format/zip_file.h"

namespace addp {
namespace {

using Kind = PickleValue::Kind;

constexpr std::uint64_t kMaxPickle = std::uint64_t{1} << 27;
// torch.serialization.MAGIC_NUMBER 0x1950a86a20f9469cfc6c as a pickled integer.
constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

// torch.save puts everything under one folder of any name.
std::string archive_folder(const ZipFile& zip, const std::string& name) {
  for (const auto& [record, info] : zip.records()) {
    const std::size_t slash = record.find('/');
    if (slash != std::string::npos && record.substr(slash + 1) == "data.pkl") {
      return record.substr(0, slash + 1);
    }
  }
  if (zip.contains("data.pkl")) return "";
  throw DataError(
      "{}: is a zip file without a data.pkl, so not one of torch.save; name a checkpoint", name);
}

TorchFile parse_zip(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                    const std::string& name, bool verify) {
  ZipFile zip(bytes, owner, name);
  const std::string folder = archive_folder(zip, name);
  if (zip.contains(folder + "byteorder")) {
    const ZipContent order = zip.read(folder + "byteorder", true);
    const std::string_view text(reinterpret_cast<const char*>(order.bytes.data()),
                                order.bytes.size());
    if (text != "little") {
      throw DataError("{}: was written on a big-endian machine; load and save it in Python first",
                      name);
    }
  }
  const ZipContent program = zip.read(folder + "data.pkl", true);
  if (program.bytes.size() > kMaxPickle) {
    throw DataError("{}: its data.pkl has {} bytes, more than any checkpoint needs", name,
                    program.bytes.size());
  }
  TorchFile file{"torch-zip", parse_pickle(program.bytes, name),
                 zip.contains(folder + "constants.pkl")};
  file.pickle->bind_storages([&](PickleStorage& storage) {
    ZipContent content = zip.read(folder + "data/" + storage.key, verify);
    storage.bytes = content.bytes;
    storage.owner = std::move(content.owner);
  });
  return file;
}

// Magic, protocol, system, object, list of keys: five pickles; then for each key the number of
// elements and the elements.
TorchFile parse_legacy(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                       const std::string& name) {
  std::uint64_t position = 0;
  const auto next = [&] {
    auto pickle = parse_pickle(bytes.subspan(position), name);
    position += pickle->length;
    return pickle;
  };
  const auto magic = next();
  if (!magic->root->is(Kind::kBigInt) || magic->root->text != kMagic) {
    throw DataError("{}: is a pickle but not one of torch.save; save the weights with torch.save",
                    name);
  }
  next();
  const auto system = next();
  const PickleValue* little = system->root->find("little_endian");
  if (little != nullptr && little->is(Kind::kBool) && little->integer == 0) {
    throw DataError("{}: was written on a big-endian machine; load and save it in Python first",
                    name);
  }
  TorchFile file{"torch-legacy", next(), false};
  const auto keys = next();
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < file.pickle->storages.size(); ++i) {
    index[file.pickle->storages[i].key] = i;
  }
  ByteReader rest(bytes.subspan(position), name);
  std::map<std::string, ByteSpan> parts;
  for (const PickleValue* key : keys->root->items) {
    const auto found = index.find(key->text);
    if (found == index.end())
      throw DataError("{}: has a storage that nothing mentions; it is damaged", name);
    const PickleStorage& storage = file.pickle->storages[found->second];
    if (rest.take_little<std::int64_t>() != storage.numel) {
      throw DataError(
          "{}: a storage has another size than the tensors expect; it is damaged, fetch it again",
          name);
    }
    parts[key->text] =
        rest.take(static_cast<std::uint64_t>(storage.numel) * dtype_size(storage.dtype));
  }
  file.pickle->bind_storages([&](PickleStorage& storage) {
    storage.bytes = parts[storage.key];
    storage.owner = owner;
  });
  return file;
}

}  // namespace

TorchFile parse_torch_file(ByteSpan bytes, const std::shared_ptr<const void>& owner,
                           const std::string& name, bool verify) {
  if (ZipFile::looks_like_zip(bytes)) return parse_zip(bytes, owner, name, verify);
  constexpr std::size_t kTarMagic = 257;
  if (bytes.size() > 512 && std::memcmp(bytes.data() + kTarMagic, "ustar", 5) == 0) {
    throw DataError(
        "{}: is a tar file, the layout of torch.save before 2017 or a plain archive; load it with "
        "torch.load in Python and save it again",
        name);
  }
  return parse_legacy(bytes, owner, name);
}

}  // namespace addp
