// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Collections from files that a user writes: one lists the tensors of a job, the other says by
/// patterns on their names how each is cut and on which stages it lives. ptc/FORMAT.md has both.

#include <string>

#include "ptc/base/result.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The contents of a file and what to call it in messages.
struct NamedText {
  std::string name;
  std::string text;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

/// Reads both and gives every tensor the first rule whose pattern matches its name; optimizer state
/// of a parameter (NAME.master, NAME.exp_avg, NAME.exp_avg_sq, by role) goes by the parameter's
/// name. With `zero` tensors of the roles master, exp_avg and exp_avg_sq are also cut flat over dp,
/// unless their rule cuts them over dp already. \error kInvalidArgument `FILE:LINE: …` with what
/// was expected; a tensor that no rule matches, a
///     rule that matches no tensor, and what Collection::Make refuses
Result<CollectionPtr> ApplyRules(const NamedText& tensors, const NamedText& rules, bool zero);

}  // namespace tessera::ptc
