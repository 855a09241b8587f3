// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "engine/checkpoint/torch/byte_source.h"
#include "ptc/base/check.h"
#include "ptc/base/utf8.h"

namespace tessera::checkpoint {

Pickle::Kind Pickle::Value::kind() const { return pickle_->nodes_[id_].kind; }

std::int64_t Pickle::Value::integer() const {
  TESSERA_DCHECK(is(Kind::kInteger) || is(Kind::kBool));
  return static_cast<std::int64_t>(pickle_->nodes_[id_].payload);
}

double Pickle::Value::number() const {
  TESSERA_DCHECK(is(Kind::kFloat));
  return std::bit_cast<double>(pickle_->nodes_[id_].payload);
}

std::string_view Pickle::Value::text() const {
  TESSERA_DCHECK(is(Kind::kText) || is(Kind::kBytes) || is(Kind::kBigInteger));
  const Node& node = pickle_->nodes_[id_];
  return std::string_view(pickle_->bytes_).substr(node.payload, node.extra);
}

const KnownGlobal& Pickle::Value::global() const {
  TESSERA_DCHECK(is(Kind::kGlobal));
  const auto index = static_cast<std::size_t>(pickle_->nodes_[id_].payload);
  if (index < NumKnownGlobals()) return GlobalAt(index);
  return pickle_->unknown_[index - NumKnownGlobals()];
}

std::size_t Pickle::Value::size() const {
  const Node& node = pickle_->nodes_[id_];
  switch (node.kind) {
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kSet:
    case Kind::kDict:
    case Kind::kObject:
    case Kind::kPersistent:
      return node.extra == kNoItems ? 0 : pickle_->lists_[node.extra].size();
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInteger:
    case Kind::kBigInteger:
    case Kind::kFloat:
    case Kind::kText:
    case Kind::kBytes:
    case Kind::kGlobal:
      return 0;
  }
  return 0;
}

Pickle::Value Pickle::Value::operator[](std::size_t i) const {
  TESSERA_DCHECK(i < size());
  return {pickle_, pickle_->lists_[pickle_->nodes_[id_].extra][i]};
}

std::optional<Pickle::Value> Pickle::Value::Find(std::string_view key) const {
  if (!is(Kind::kDict)) return std::nullopt;
  const std::size_t first = size() - std::min(size(), 2 * kMaxFields);
  for (std::size_t i = size(); i > first; i -= 2) {
    const Value found = (*this)[i - 2];
    if (found.is(Kind::kText) && found.text() == key) return (*this)[i - 1];
  }
  return std::nullopt;
}

bool Pickle::Value::IsObject(Global global) const {
  if (is(Kind::kGlobal)) return this->global().id == global;
  return is(Kind::kObject) && (*this)[0].global().id == global;
}

std::optional<Pickle::Value> Pickle::Value::state() const {
  TESSERA_DCHECK(is(Kind::kObject));
  if (size() < 3) return std::nullopt;
  return (*this)[2];
}

std::vector<std::string> Pickle::UnknownGlobals() const {
  std::set<std::string> names;
  for (const KnownGlobal& global : unknown_) {
    names.insert(fmt::format("{}.{}", Escaped(global.module), Escaped(global.name)));
  }
  return {names.begin(), names.end()};
}

Error Pickle::Value::At(std::string_view message) const {
  return ErrorAt(pickle_->name_, pickle_->begin_ + pickle_->nodes_[id_].position, message);
}

}  // namespace tessera::checkpoint
