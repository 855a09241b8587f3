// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/tensor_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace tessera::ptc {
namespace {

using Key = std::vector<std::int64_t>;

/// Adds everything that Layout::Boxes reads of a tensor, each part led by its length.
void AppendCuts(const Layout& layout, std::size_t tensor, Key& key) {
  const Collection& collection = layout.collection();
  const TensorSpec& spec = collection.tensors()[tensor];
  key.push_back(static_cast<std::int64_t>(spec.place));
  if (spec.place == StagePlace::kLayer) {
    key.push_back(
        StageOfLayer(spec.layer, collection.num_layers(), layout.mesh().shape()[Axis::kPp]));
  }
  key.push_back(static_cast<std::int64_t>(spec.rule.split));
  key.push_back(spec.rule.flat ? static_cast<std::int64_t>(*spec.rule.flat) : -1);
  for (const std::vector<Axis>& axes : spec.rule.dims) {
    key.push_back(std::ssize(axes));
    for (Axis axis : axes) key.push_back(static_cast<std::int64_t>(axis));
  }
  key.push_back(spec.segments ? std::ssize(spec.segments->sizes) : -1);
  if (spec.segments) {
    key.push_back(spec.segments->dim);
    key.insert(key.end(), spec.segments->sizes.begin(), spec.segments->sizes.end());
  }
}

Key KeyOf(const Layout& from, const Layout& to, std::size_t tensor) {
  const TensorSpec& spec = from.collection().tensors()[tensor];
  Key key{SizeBytes(spec.dtype), std::ssize(spec.shape)};
  key.insert(key.end(), spec.shape.begin(), spec.shape.end());
  AppendCuts(from, tensor, key);
  AppendCuts(to, tensor, key);
  return key;
}

/// "param f32 [12,4]".
std::string WhatItIs(const TensorSpec& spec) {
  return fmt::format("{} {} {}", ToString(spec.role), ToString(spec.dtype), ToString(spec.shape));
}

}  // namespace

Status CheckSameTensors(const Collection& from, const Collection& to) {
  if (&from == &to) return OkStatus();
  const auto& a = from.tensors();
  const auto& b = to.tensors();
  for (std::size_t t = 0; t < std::max(a.size(), b.size()); ++t) {
    if (t >= b.size() || (t < a.size() && a[t].name < b[t].name)) {
      return InvalidArgument(fmt::format("tensor '{}' is only in the old layout", a[t].name));
    }
    if (t >= a.size() || b[t].name < a[t].name) {
      return InvalidArgument(fmt::format("tensor '{}' is only in the new layout", b[t].name));
    }
    if (const std::string was = WhatItIs(a[t]), is = WhatItIs(b[t]); was != is) {
      return InvalidArgument(fmt::format(
          "tensor '{}' is {} in the old layout and {} in the new one", a[t].name, was, is));
    }
  }
  return OkStatus();
}

TensorClasses ClassifyTensors(const Layout& from, const Layout& to) {
  std::map<Key, std::size_t> numbers;
  TensorClasses classes;
  for (std::size_t t = 0; t < from.collection().tensors().size(); ++t) {
    const auto [it, is_new] = numbers.try_emplace(KeyOf(from, to, t), classes.first.size());
    if (is_new) {
      classes.first.push_back(static_cast<int>(t));
      classes.count.push_back(0);
    }
    classes.class_of.push_back(it->second);
    ++classes.count[it->second];
  }
  return classes;
}

}  // namespace tessera::ptc
