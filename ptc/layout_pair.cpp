// SPDX-License-Identifier: Apache-2.0
#include "ptc/layout_pair.h"

#include <optional>
#include <utility>

#include "ptc/base/run_both.h"

namespace tessera::ptc {

Result<LayoutPair> ParseLayoutPair(std::string_view from, std::string_view to) {
  std::optional<Result<Layout>> old_layout, new_layout;
  const auto parse = [](std::string_view text, std::optional<Result<Layout>>& layout) {
    layout = ParseLayout(text);
    if (*layout) static_cast<void>((*layout)->hash());  // the layout stores it
  };
  if (from == to) {
    parse(from, old_layout);
    new_layout = old_layout;
  } else {
    RunBoth([&] { parse(from, old_layout); }, [&] { parse(to, new_layout); });
  }
  if (!*old_layout) return old_layout->error();
  if (!*new_layout) return new_layout->error();
  return LayoutPair{std::move(**old_layout), std::move(**new_layout)};
}

}  // namespace tessera::ptc
