// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// State that lies as in several layouts, each tensor as in one of them. A move in rounds that
/// cannot be ended leaves it so.

#include <vector>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::ptc {

/// Tensors that lie as in one layout.
struct LayoutPart {
  Layout layout;
  std::vector<int> tensors;         // ascending, at least one
  std::vector<DeviceId> lost = {};  // devices of the layout that hold nothing of them, ascending
  friend bool operator==(const LayoutPart&, const LayoutPart&) = default;
};

/// Immutable; any thread may call any function.
class MixedLayout {
 public:
  /// All tensors as in `layout`.
  explicit MixedLayout(Layout layout);
  /// \error kInvalidArgument if there is no part, if the parts differ in their tensors, or naming a
  ///     tensor that no part has, or more than one, or that does not exist
  static Result<MixedLayout> Make(std::vector<LayoutPart> parts);

  const std::vector<LayoutPart>& parts() const { return parts_; }
  /// \pre `tensor` is one of the collection
  const LayoutPart& PartWith(int tensor) const;
  /// Those that hold something of a part, ascending.
  const std::vector<DeviceId>& devices() const { return devices_; }
  bool Has(DeviceId device) const;
  /// The same after `tensors` have moved to `to`, without the devices in `lost`, except for what
  /// these have then got.
  /// \pre `tensors` are ascending; the layouts have the same tensors
  MixedLayout After(const Layout& to, const std::vector<int>& tensors,
                    const std::vector<DeviceId>& lost = {}) const;
  friend bool operator==(const MixedLayout& a, const MixedLayout& b) {
    return a.parts_ == b.parts_;
  }

 private:
  explicit MixedLayout(std::vector<LayoutPart> parts);

  std::vector<LayoutPart> parts_;
  std::vector<DeviceId> devices_;
};

}  // namespace tessera::ptc
