// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A visitor made of lambdas for std::visit. A forgotten alternative fails to compile.

namespace tessera {
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;
}  // namespace tessera
