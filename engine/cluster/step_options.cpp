// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/step_options.h"

#include <fmt/format.h>

#include <charconv>

#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr std::string_view kZero = "zero";
constexpr std::string_view kMicroBatch = "micro-batch ";

}  // namespace

std::string ToString(const StepOptions& options) {
  std::string text(options.zero ? kZero : "");
  if (options.micro_batch > 0) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", kMicroBatch, options.micro_batch);
  }
  return text;
}

Result<StepOptions> ParseStepOptions(std::string_view text) {
  StepOptions options;
  std::string_view rest = text;
  if (rest.starts_with(kZero)) {
    options.zero = true;
    rest.remove_prefix(kZero.size());
    if (rest.starts_with(", ")) rest.remove_prefix(2);
  }
  if (rest.starts_with(kMicroBatch)) {
    rest.remove_prefix(kMicroBatch.size());
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, options.micro_batch);
    if (error == std::errc()) rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  }
  if (!rest.empty() || ToString(options) != text) {
    return InvalidArgument(
        fmt::format("step options '{}' are not of the form 'zero, micro-batch 4'", Escaped(text)));
  }
  return options;
}

}  // namespace tessera::engine
