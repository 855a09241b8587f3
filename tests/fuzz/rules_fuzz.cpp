// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rules.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

/// A tensors file, a line "---", a rules file.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBetween = "\n---\n";
  const std::string_view text = fuzz::Text(data, size);
  const std::size_t at = text.find(kBetween);
  if (at == std::string_view::npos) return 0;
  const ptc::NamedText tensors{"tensors.json", std::string(text.substr(0, at))};
  const ptc::NamedText rules{"rules.json", std::string(text.substr(at + kBetween.size()))};
  for (const bool zero : {false, true}) {
    const auto applied = ptc::ApplyRules(tensors, rules, zero);
    if (!applied) fuzz::CheckError(applied.error(), {"tensors.json:", "rules.json:", "tensor '"});
  }
  const auto report = ptc::CheckRules(tensors, rules, false);
  if (!report) fuzz::CheckError(report.error(), {"tensors.json:", "rules.json:"});
  return 0;
}
