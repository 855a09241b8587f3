// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/handed_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "ptc/digest.h"

namespace tessera::engine::vfs {
namespace {

using checkpoint::FileTensor;
using checkpoint::Printable;

/// The tensor in which built-in jobs keep the step.
constexpr std::string_view kStepTensor = "job.step";

/// Room for the header of another writer, whose metadata may be longer than ours.
constexpr std::int64_t kHeaderRoom = 1 << 20;

struct ExpectedTensor {
  FilePlan::Entry entry;
  bool found = false;
};

/// The value of a metadata key, or nullptr.
const std::string* Note(const checkpoint::Header& header, std::string_view key) {
  const auto note = header.metadata.find(std::string(key));
  return note == header.metadata.end() ? nullptr : &note->second;
}

Result<std::int64_t> StepOf(const checkpoint::Header& header, const std::string& path) {
  const std::string* const text = Note(header, "tessera.step");
  if (text == nullptr) {
    return InvalidArgument(fmt::format("'{}': the metadata lacks 'tessera.step'", path));
  }
  std::int64_t step = 0;
  const char* const end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data(), end, step);
  if (text->empty() || parsed.ec != std::errc() || parsed.ptr != end || step < 0) {
    return InvalidArgument(
        fmt::format("'{}': tessera.step is '{}', not a step", path, Printable(*text)));
  }
  return step;
}

/// These notes are optional, but must be right if they are present.
Status CheckNotes(const checkpoint::Header& header, const JobInfo& job, int rank,
                  const std::string& path) {
  const std::map<std::string, std::string> expected = {
      {"tessera.job", job.name},
      {"tessera.layout", ptc::Hex16(job.layout.hash())},
      {"tessera.rank", fmt::to_string(rank)}};
  for (const auto& [key, value] : expected) {
    const std::string* const note = Note(header, key);
    if (note == nullptr || *note == value) continue;
    return InvalidArgument(
        fmt::format("'{}': {} is '{}', expected '{}'", path, key, Printable(*note), value));
  }
  return OkStatus();
}

Status CheckTensor(const FileTensor& tensor, const ptc::Shape& held, const ptc::TensorSpec& spec,
                   const std::string& path) {
  if (tensor.dtype != spec.dtype) {
    return InvalidArgument(fmt::format("'{}': tensor '{}' is {}, the job has it as {}", path,
                                       tensor.name, ToString(tensor.dtype), ToString(spec.dtype)));
  }
  if (tensor.shape != held) {
    return InvalidArgument(fmt::format("'{}': tensor '{}' has shape [{}], the rank holds [{}]",
                                       path, tensor.name, fmt::join(tensor.shape, ", "),
                                       fmt::join(held, ", ")));
  }
  return OkStatus();
}

/// `names` has the name of each piece. The pieces of one name follow each other.
Status CheckDigests(const checkpoint::Header& header, const HandedFile& file, const JobInfo& job,
                    const std::vector<std::string>& names, const std::string& path) {
  const std::string* const algorithm = Note(header, checkpoint::kDigestAlgorithmKey);
  const bool known = algorithm != nullptr && *algorithm == ptc::kDigestAlgorithm;
  if (!known) return OkStatus();
  TESSERA_TRY(const auto digests, checkpoint::DigestsIn(header, path));
  if (!digests) return OkStatus();
  std::uint64_t digest = 0;
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    const auto stated = digests->find(names[i]);
    if (stated == digests->end()) continue;
    const auto& [tensor, piece] = file.pieces[i];
    const auto& spec = job.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    digest += ptc::DigestBox(spec.dtype, spec.shape, piece.memory, piece.data, piece.box);
    if (i + 1 < names.size() && names[i + 1] == names[i]) continue;
    if (digest != stated->second) {
      return DataLoss(fmt::format("'{}': tensor '{}' has digest {}, the metadata states {}", path,
                                  names[i], ptc::Hex16(digest), ptc::Hex16(stated->second)));
    }
    digest = 0;
  }
  return OkStatus();
}

/// The cells that lie in the file, with the digests of those that other files may hold too.
std::vector<HandedFile::Cell> CellsIn(const HandedFile& file, const HandedCells& cells,
                                      const JobInfo& job) {
  std::vector<HandedFile::Cell> inside;
  const auto& specs = job.layout.collection().tensors();
  for (const auto& [tensor, piece] : file.pieces) {
    const ptc::TensorSpec& spec = specs[static_cast<std::size_t>(tensor)];
    for (std::size_t i = cells.FirstOf(tensor); i < cells.FirstOf(tensor + 1); ++i) {
      const HandedCells::Cell& cell = cells.cells()[i];
      if (!ptc::Contains(piece.box, cell.box)) continue;
      inside.push_back({i, cell.is_shared ? ptc::DigestBox(spec.dtype, spec.shape, piece.memory,
                                                           piece.data, cell.box)
                                          : 0});
    }
  }
  std::ranges::sort(inside, {}, &HandedFile::Cell::cell);
  return inside;
}

Status CheckStepTensor(const HandedFile& file, const JobInfo& job, const std::string& path) {
  for (const auto& [tensor, piece] : file.pieces) {
    const auto& spec = job.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    if (spec.name != kStepTensor || spec.dtype != ptc::DType::kI64) continue;
    std::int64_t step = 0;
    std::memcpy(&step, piece.data, sizeof step);
    if (step != file.step) {
      return InvalidArgument(fmt::format("'{}': tensor '{}' is {}, tessera.step is {}", path,
                                         spec.name, step, file.step));
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::int64_t> MaxHandedBytes(const JobInfo& job, int rank, StateFile file) {
  TESSERA_TRY(const FilePlan plan, FilePlan::Make(job, rank, file));
  return plan.size() + plan.data_begin() + kHeaderRoom;
}

Result<HandedFile> ReadHandedFile(const JobInfo& job, const HandedCells& cells, int rank,
                                  StateFile state_file, std::span<const std::byte> bytes,
                                  const std::string& path) {
  TESSERA_TRY(const FilePlan plan, FilePlan::Make(job, rank, state_file));
  std::map<std::string, ExpectedTensor, std::less<>> expected;
  for (std::size_t i = 0; i < plan.entries().size(); ++i) {
    expected[plan.NameOf(i)] = {plan.entries()[i]};
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  TESSERA_TRY(const checkpoint::Header header,
              checkpoint::ParseHeader(text, std::ssize(bytes), path));
  HandedFile file{rank, state_file, 0, {}};
  TESSERA_TRY(file.step, StepOf(header, path));
  TESSERA_RETURN_IF_ERROR(CheckNotes(header, job, rank, path));
  const auto& specs = job.layout.collection().tensors();
  std::vector<std::string> names;
  for (const FileTensor& tensor : header.tensors) {
    const auto own = expected.find(tensor.name);
    if (own == expected.end()) {
      return InvalidArgument(
          fmt::format("'{}': rank {} holds no tensor '{}'", path, rank, Printable(tensor.name)));
    }
    const FilePlan::Entry& entry = own->second.entry;
    const LocalTensor& held = entry.held;  // has elements, as all that a rank holds
    TESSERA_RETURN_IF_ERROR(
        CheckTensor(tensor, held.shape(), specs[static_cast<std::size_t>(entry.tensor)], path));
    own->second.found = true;
    for (std::size_t i = 0; i < held.boxes().size(); ++i) {
      file.pieces.emplace_back(entry.tensor,
                               HandedPiece{held.boxes()[i], held.Memory(i),
                                           bytes.data() + header.data_begin + tensor.begin});
      names.push_back(tensor.name);
    }
  }
  for (const auto& [name, own] : expected) {
    if (own.found) continue;
    return InvalidArgument(fmt::format("'{}': tensor '{}' is missing ({} of {} are present)", path,
                                       name, header.tensors.size(), expected.size()));
  }
  TESSERA_RETURN_IF_ERROR(CheckStepTensor(file, job, path));
  TESSERA_RETURN_IF_ERROR(CheckDigests(header, file, job, names, path));
  file.cells = CellsIn(file, cells, job);
  return file;
}

}  // namespace tessera::engine::vfs
