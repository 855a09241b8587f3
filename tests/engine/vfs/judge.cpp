// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/engine/cells.h"
#include "tests/engine/vfs/fake_source.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;

/// Names and sizes from the documentation of the format.
const std::map<std::string, std::size_t> kSizes = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
    {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8}};

/// How often each element of each tensor occurs in the file.
using Seen = std::vector<std::vector<int>>;

/// The indices of the uncut tensor along each dimension of an entry, in the entry's order.
using Axes = std::vector<std::vector<std::int64_t>>;

/// \param boxes as text, `[0:4,8:16]`; they follow each other along the dimension in which they differ
Axes AxesOf(const std::vector<std::string>& boxes) {
  Axes axes;
  for (const std::string& box : boxes) {
    std::size_t dim = 0;
    for (std::size_t at = 1; at + 1 < box.size(); ++dim) {
      std::size_t used = 0;
      const std::int64_t begin = std::stoll(box.substr(at), &used);
      at += used + 1;
      const std::int64_t end = std::stoll(box.substr(at), &used);
      at += used + 1;
      if (axes.size() <= dim) axes.emplace_back();
      if (!axes[dim].empty() && axes[dim].front() == begin) continue;  // this one is equal in all
      for (std::int64_t i = begin; i < end; ++i) axes[dim].push_back(i);
    }
  }
  return axes;
}

std::string JudgeEntry(const std::string& name, const Json& entry, const Json& meta,
                       std::string_view data, const engine::vfs::JobInfo& job, Seen& seen) {
  std::string tensor_name = name;
  if (meta.contains("tessera.tensor_of")) {
    const Json of = Json::parse(meta["tessera.tensor_of"].get<std::string>());
    if (of.contains(name)) tensor_name = of[name];
  }
  const auto& specs = job.layout.collection().tensors();
  std::size_t tensor = 0;
  while (tensor < specs.size() && specs[tensor].name != tensor_name) ++tensor;
  if (tensor == specs.size()) return name + " is no tensor of the job";
  const auto& shape = specs[tensor].shape;
  const std::vector<std::int64_t> sizes = entry["shape"];
  Axes axes(sizes.size());
  if (meta.contains("tessera.boxes")) {
    if (meta.contains("DCP_SHARDING_INFO")) return "boxes and offsets in one file";
    const Json boxes = Json::parse(meta["tessera.boxes"].get<std::string>())[name];
    axes = AxesOf(boxes.get<std::vector<std::string>>());
  } else {
    std::vector<std::int64_t> at(sizes.size(), 0);
    if (meta.contains("DCP_SHARDING_INFO")) {
      at = Json::parse(meta["DCP_SHARDING_INFO"].get<std::string>())[name]["saved_offsets"]
               .get<std::vector<std::int64_t>>();
    }
    for (std::size_t d = 0; d < std::min(axes.size(), at.size()); ++d) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) axes[d].push_back(at[d] + i);
    }
  }
  if (sizes.size() != shape.size() || axes.size() != shape.size()) return name + " has another rank";
  std::vector<ptc::Interval> dims;
  std::size_t count = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    dims.push_back({0, sizes[d]});
    count *= static_cast<std::size_t>(sizes[d]);
    if (std::ssize(axes[d]) != sizes[d]) return name + " has another shape than its boxes";
    if (sizes[d] > 0 && axes[d].back() >= shape[d]) return name + " leads out of its tensor";
  }
  const std::size_t size = kSizes.at(entry["dtype"]);
  const std::size_t begin = entry["data_offsets"][0];
  if (entry["data_offsets"][1] != begin + count * size) return name + " has the wrong length";
  if (begin + count * size > data.size()) return name + " leads out of the file";
  if (begin % size != 0) return name + " is not aligned";
  if (count == 0) return {};
  const char* bytes = data.data() + begin;
  std::string wrong;
  ForEachElement(*ptc::Box::Make(dims), [&](const std::vector<std::int64_t>& point) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      index = index * shape[d] + axes[d][static_cast<std::size_t>(point[d])];
    }
    const std::uint64_t bits = ElementBits(static_cast<int>(tensor), index, job.step);
    if (std::memcmp(bytes, &bits, size) != 0) wrong = name + " holds a wrong element";
    bytes += size;
    ++seen[tensor][static_cast<std::size_t>(index)];
  });
  return wrong;
}

}  // namespace

std::string Judge(const std::string& bytes, const engine::vfs::JobInfo& job,
                  std::optional<int> rank, bool model) {
  std::uint64_t length = 0;
  if (bytes.size() < 8) return "no header";
  std::memcpy(&length, bytes.data(), 8);
  if (length > bytes.size() - 8) return "a header beyond the file";
  if ((length + 8) % 4096 != 0) return "data does not begin at a page";
  const Json header = Json::parse(bytes.substr(8, length), nullptr, false);
  if (!header.is_object()) return "the header is no JSON object";
  const Json& meta = header["__metadata__"];
  if (meta["tessera.step"] != std::to_string(job.step)) return "another step: " + meta.dump();
  if (meta["tessera.epoch"] != std::to_string(job.epoch)) return "another epoch: " + meta.dump();
  if (meta["format"] != "pt") return "no format";

  const auto& specs = job.layout.collection().tensors();
  Seen seen;
  for (const auto& spec : specs) seen.emplace_back(*ptc::NumElements(spec.shape), 0);
  const std::string_view data = std::string_view(bytes).substr(8 + length);
  std::size_t total = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (auto wrong = JudgeEntry(name, entry, meta, data, job, seen); !wrong.empty()) return wrong;
    total +=
        entry["data_offsets"][1].get<std::size_t>() - entry["data_offsets"][0].get<std::size_t>();
  }
  if (total != data.size()) return "bytes that belong to no entry";

  // The expected elements.
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const auto role = specs[t].role;
    const bool here =
        model == (role == ptc::TensorRole::kParam || role == ptc::TensorRole::kBuffer);
    std::vector<int> due(seen[t].size(), here && !rank ? 1 : 0);
    if (here && rank) {
      for (const ptc::Box& box : job.layout.Boxes(*rank, static_cast<int>(t))) {
        ForEachElement(box, [&](const std::vector<std::int64_t>& point) {
          ++due[static_cast<std::size_t>(IndexIn(*ptc::Box::Whole(specs[t].shape), point))];
        });
      }
    }
    if (due != seen[t]) return specs[t].name + " is not there as it should be";
  }
  return {};
}

}  // namespace tessera::test
