// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/tensor_class.h"

#include <map>

namespace tessera::ptc {
namespace {

using Key = std::vector<std::int64_t>;

/// Everything that Layout::Boxes reads of a tensor, each part led by its length.
Key KeyOf(const TensorSpec& spec, std::int64_t num_layers, std::int64_t old_stages,
          std::int64_t new_stages) {
  Key key{SizeBytes(spec.dtype), static_cast<std::int64_t>(spec.place)};
  if (spec.place == StagePlace::kLayer) {
    key.push_back(StageOfLayer(spec.layer, num_layers, old_stages));
    key.push_back(StageOfLayer(spec.layer, num_layers, new_stages));
  }
  key.push_back(std::ssize(spec.shape));
  key.insert(key.end(), spec.shape.begin(), spec.shape.end());
  for (const std::vector<Axis>& axes : spec.rule.dims) {
    key.push_back(std::ssize(axes));
    for (Axis axis : axes) key.push_back(static_cast<std::int64_t>(axis));
  }
  if (spec.segments) {
    key.push_back(spec.segments->dim);
    key.insert(key.end(), spec.segments->sizes.begin(), spec.segments->sizes.end());
  }
  return key;
}

}  // namespace

TensorClasses ClassifyTensors(const Layout& from, const Layout& to) {
  const Collection& collection = from.collection();
  std::map<Key, std::size_t> numbers;
  TensorClasses classes;
  for (std::size_t t = 0; t < collection.tensors().size(); ++t) {
    const Key key = KeyOf(collection.tensors()[t], collection.num_layers(),
                          from.mesh().shape()[Axis::kPp], to.mesh().shape()[Axis::kPp]);
    const auto [it, is_new] = numbers.try_emplace(key, classes.first.size());
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
