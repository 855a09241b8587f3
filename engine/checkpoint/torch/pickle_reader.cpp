// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptc/base/utf8.h"

namespace tessera::checkpoint {

using Kind = Pickle::Kind;

Result<std::string_view> PickleReader::Take(std::uint64_t size) {
  if (size > bytes_.size() - at_) {
    return At(fmt::format("the pickle is cut short: {} bytes are wanted, {} are left", size,
                          bytes_.size() - at_));
  }
  const auto taken = bytes_.substr(at_, static_cast<std::size_t>(size));
  at_ += taken.size();
  return taken;
}

Result<std::uint64_t> PickleReader::TakeUnsigned(std::size_t num_bytes) {
  TESSERA_TRY(const std::string_view raw, Take(num_bytes));
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < num_bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
  }
  return value;
}

Result<std::string_view> PickleReader::TakeLine() {
  const std::size_t end = bytes_.find('\n', at_);
  if (end == std::string_view::npos) return At("the pickle is cut short inside a line");
  const auto line = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

Status PickleReader::Push(std::uint32_t id) {
  if (stack_.size() >= Pickle::kMaxValues) {
    return At(fmt::format("the pickle's stack has more than {} values", Pickle::kMaxValues));
  }
  stack_.push_back(id);
  return OkStatus();
}

Status PickleReader::Push(Kind kind, std::uint64_t payload, std::uint32_t extra) {
  if (pickle_.nodes_.size() >= Pickle::kMaxValues) {
    return At(fmt::format("the pickle has more than {} values", Pickle::kMaxValues));
  }
  pickle_.nodes_.push_back({kind, static_cast<std::uint32_t>(start_), extra, payload});
  return Push(static_cast<std::uint32_t>(pickle_.nodes_.size() - 1));
}

Status PickleReader::PushItems(Kind kind, std::vector<std::uint32_t> items) {
  std::uint32_t extra = Pickle::kNoItems;
  if (!items.empty()) {
    extra = static_cast<std::uint32_t>(pickle_.lists_.size());
    pickle_.lists_.push_back(std::move(items));
  }
  return Push(kind, 0, extra);
}

Status PickleReader::PushText(Kind kind, std::uint64_t size) {
  const std::size_t begin = at_;
  TESSERA_TRY(const std::string_view text, Take(size));
  return Push(kind, begin, static_cast<std::uint32_t>(text.size()));
}

Status PickleReader::PushLong(std::uint64_t size) {
  if (size > 8) return PushText(Kind::kBigInteger, size);
  TESSERA_TRY(std::uint64_t value, TakeUnsigned(static_cast<std::size_t>(size)));
  if (size > 0 && size < 8 && (value >> (8 * size - 1)) != 0)
    value |= ~std::uint64_t{0} << (8 * size);
  return Push(Kind::kInteger, value);
}

Result<std::uint64_t> PickleReader::AddUnknown(std::string_view module, std::string_view name) {
  if (module.size() > Pickle::kMaxGlobalName || name.size() > Pickle::kMaxGlobalName) {
    return At(fmt::format("the name of a global has {} bytes, the limit is {}",
                          std::max(module.size(), name.size()), Pickle::kMaxGlobalName));
  }
  if (pickle_.unknown_.size() >= Pickle::kMaxUnknown) {
    return At(
        fmt::format("more than {} globals that a checkpoint does not need", Pickle::kMaxUnknown));
  }
  pickle_.unknown_.push_back({module, name, Global::kUnknown});
  return NumKnownGlobals() + pickle_.unknown_.size() - 1;
}

Status PickleReader::PushGlobal(std::string_view module, std::string_view name) {
  if (const auto known = FindGlobal(module, name)) return Push(Kind::kGlobal, *known);
  TESSERA_TRY(const std::uint64_t number, AddUnknown(module, name));
  return Push(Kind::kGlobal, number);
}

Result<std::uint32_t> PickleReader::Pop() {
  if (Poppable() == 0) return At("an opcode finds the pickle's stack empty");
  const std::uint32_t id = stack_.back();
  stack_.pop_back();
  return id;
}

Result<std::vector<std::uint32_t>> PickleReader::PopMany(std::size_t count) {
  if (Poppable() < count) return At("an opcode finds the pickle's stack empty");
  const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<std::uint32_t> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  return items;
}

Result<std::vector<std::uint32_t>> PickleReader::PopToMark() {
  if (marks_.empty()) return At("an opcode finds no mark on the pickle's stack");
  const std::size_t mark = marks_.back();
  TESSERA_TRY(auto items, PopMany(stack_.size() - mark));
  marks_.pop_back();
  return items;
}

Status PickleReader::AddTo(Kind kind, const std::vector<std::uint32_t>& items) {
  // Items of a subclass of list, set or dict, which is opaque.
  if (Poppable() > 0 && Look(stack_.back()).kind == Kind::kObject) return OkStatus();
  if (Poppable() == 0 || Look(stack_.back()).kind != kind) {
    return At("items are added to a value that is not of their kind of container");
  }
  if (kind == Kind::kDict && items.size() % 2 != 0) return At("a key of a dict has no value");
  if (items.empty()) return OkStatus();
  Pickle::Node& node = pickle_.nodes_[stack_.back()];
  if (node.extra == Pickle::kNoItems) {
    node.extra = static_cast<std::uint32_t>(pickle_.lists_.size());
    pickle_.lists_.emplace_back();
  }
  auto& list = pickle_.lists_[node.extra];
  list.insert(list.end(), items.begin(), items.end());
  return OkStatus();
}

Status PickleReader::Put(std::uint64_t index) {
  if (Poppable() == 0) return At("an opcode finds the pickle's stack empty");
  // A pickler numbers entries upwards, and each entry takes at least one byte.
  if (index > std::min(at_, Pickle::kMaxValues))
    return At(fmt::format("memo entry {} is beyond what was read so far", index));
  if (index >= memo_.size()) memo_.resize(static_cast<std::size_t>(index) + 1, kNoValue);
  memo_[static_cast<std::size_t>(index)] = stack_.back();
  return OkStatus();
}

Status PickleReader::Get(std::uint64_t index) {
  if (index >= memo_.size() || memo_[static_cast<std::size_t>(index)] == kNoValue) {
    return At(fmt::format("memo entry {} was never set", index));
  }
  return Push(memo_[static_cast<std::size_t>(index)]);
}

std::optional<std::uint32_t> PickleReader::Only(std::uint32_t arguments, Kind kind) const {
  const auto items = ItemsOf(arguments);
  if (items.size() != 1 || Look(items[0]).kind != kind) return std::nullopt;
  return items[0];
}

Result<std::vector<std::uint32_t>> PickleReader::ItemsOfPairs(std::uint32_t arguments) const {
  std::vector<std::uint32_t> items;
  if (ItemsOf(arguments).empty()) return items;
  const auto list = Only(arguments, Kind::kList);
  if (!list) return At("a dict is made from other arguments than a list of pairs");
  for (const std::uint32_t id : ItemsOf(*list)) {
    const Kind kind = Look(id).kind;
    const bool is_pair = (kind == Kind::kList || kind == Kind::kTuple) && ItemsOf(id).size() == 2;
    if (!is_pair) return At("a dict is made from other arguments than a list of pairs");
    items.insert(items.end(), ItemsOf(id).begin(), ItemsOf(id).end());
  }
  return items;
}

Status PickleReader::Call(std::uint32_t callable, std::uint32_t arguments) {
  const Pickle::Node& what = Look(callable);
  if (what.kind == Kind::kObject) {
    // A method of an object. What it returns is opaque.
    TESSERA_TRY(const std::uint64_t number, AddUnknown("object", "method"));
    TESSERA_RETURN_IF_ERROR(Push(Kind::kGlobal, number));
    TESSERA_TRY(const std::uint32_t unknown, Pop());
    return Call(unknown, arguments);
  }
  if (what.kind != Kind::kGlobal) return At("the callable is not a global");
  if (Look(arguments).kind != Kind::kTuple) return At("the arguments of a call are not a tuple");
  const auto number = static_cast<std::size_t>(what.payload);
  const Global id = number < NumKnownGlobals() ? GlobalAt(number).id : Global::kUnknown;
  if (id == Global::kOrderedDict) {
    TESSERA_TRY(auto items, ItemsOfPairs(arguments));
    return PushItems(Kind::kDict, std::move(items));
  }
  if (id == Global::kDefaultDict) return PushItems(Kind::kDict, {});
  if (id == Global::kCounter) {
    if (const auto dict = Only(arguments, Kind::kDict)) return Push(*dict);
  }
  return PushItems(Kind::kObject, {callable, arguments});
}

Status PickleReader::Build(std::uint32_t state) {
  if (Poppable() == 0) return At("an opcode finds the pickle's stack empty");
  const Pickle::Node& target = Look(stack_.back());
  if (target.kind == Kind::kDict) return OkStatus();  // attributes of a dict are not needed
  if (target.kind != Kind::kObject) return At("a state is set on a value that is not an object");
  auto& items = pickle_.lists_[target.extra];
  items.resize(2);
  items.push_back(state);
  return OkStatus();
}

Status PickleReader::Run() {
  if (bytes_.size() < 2 || static_cast<unsigned char>(bytes_[0]) != 0x80 || bytes_[1] < 2 ||
      bytes_[1] > 5) {
    return At("not a pickle of protocol 2 to 5");
  }
  at_ = 2;
  for (;;) {
    start_ = at_;
    TESSERA_TRY(const std::string_view opcode, Take(1));
    TESSERA_TRY(const Next next, Step(static_cast<unsigned char>(opcode[0])));
    if (next == Next::kStop) break;
  }
  TESSERA_TRY(pickle_.root_, Pop());
  if (at_ != bytes_.size()) {
    return At(fmt::format("{} bytes follow the end of the pickle", bytes_.size() - at_));
  }
  return OkStatus();
}

Result<PicklePtr> Pickle::Read(std::string name, std::int64_t begin, std::string bytes) {
  if (bytes.size() > static_cast<std::size_t>(kMaxBytes)) {
    return ErrorAt(
        name, begin,
        fmt::format("the pickle has {} bytes, the limit is {}", bytes.size(), kMaxBytes));
  }
  std::shared_ptr<Pickle> pickle(new Pickle(std::move(name), begin, std::move(bytes)));
  TESSERA_RETURN_IF_ERROR(PickleReader(*pickle).Run());
  return pickle;
}

}  // namespace tessera::checkpoint
