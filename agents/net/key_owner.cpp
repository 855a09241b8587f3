// SPDX-License-Identifier: Apache-2.0
#include "agents/net/key_owner.h"

#include <charconv>

namespace tessera::agents {
namespace {
constexpr std::string_view kViewerText = "viewer";
constexpr std::string_view kOperatorText = "operator";
constexpr std::string_view kNodeText = "node ";
}  // namespace

std::string RoleText(const KeyOwner& owner) {
  switch (owner.role) {
    case Role::kViewer:
      return std::string(kViewerText);
    case Role::kOperator:
      return std::string(kOperatorText);
    case Role::kNode:
      return std::string(kNodeText) + std::to_string(owner.node);
  }
  return {};
}

Result<KeyOwner> ParseRole(std::string_view text) {
  if (text == kViewerText) return KeyOwner{{}, Role::kViewer};
  if (text == kOperatorText) return KeyOwner{{}, Role::kOperator};
  if (text.starts_with(kNodeText)) {
    const std::string_view number = text.substr(kNodeText.size());
    KeyOwner owner{{}, Role::kNode};
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), owner.node);
    if (error == std::errc() && end == number.data() + number.size() && owner.node >= 0) {
      return owner;
    }
  }
  return InvalidArgument("role '" + std::string(text) + "' is not viewer, operator or node NUMBER");
}

}  // namespace tessera::agents
