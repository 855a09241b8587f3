// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes a value on the worker of the registrar.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "agents/registrar/registrar_world.h"

namespace tessera::agents {

/// Calls `make` on the worker, and then `then` with its value on the registrar's thread.
template <typename Make, typename Then>
void ComputeWith(const RegistrarWorld& world, Make make, Then then) {
  auto result = std::make_shared<std::optional<std::invoke_result_t<Make>>>();
  world.compute([result, make = std::move(make)] { result->emplace(make()); },
                [result, then = std::move(then)] { then(std::move(**result)); });
}

}  // namespace tessera::agents
