// SPDX-License-Identifier: Apache-2.0
/// \file
/// Prints the canonical text of a layout. The layout hash is computed from these bytes, so they
/// must not depend on a library.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "ptc/base/utf8.h"
#include "ptc/layout.h"

namespace tessera::ptc {
namespace {

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {  // Collection::Make has refused control characters
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void AppendAxes(std::string& out, const std::vector<Axis>& axes) {
  out += '[';
  for (std::size_t a = 0; a < axes.size(); ++a) {
    fmt::format_to(std::back_inserter(out), R"({}"{}")", a == 0 ? "" : ",", ToString(axes[a]));
  }
  out += ']';
}

/// Prints a list of axes if the split is `of_lists`, else an object.
void AppendCut(std::string& out, const DimCut& cut, Split of_lists) {
  const bool is_plain = cut.axes.empty() || (cut.split == of_lists && cut.multiple == 1);
  if (is_plain && !cut.heads) return AppendAxes(out, cut.axes);
  const auto sink = std::back_inserter(out);
  out += R"({"axes":)";
  AppendAxes(out, cut.axes);
  if (cut.heads) {
    fmt::format_to(sink, R"(,"heads":{{"kv":{},"of":"{}","query":{}}})", cut.heads->kv,
                   cut.heads->of_query ? "query" : "kv", cut.heads->query);
  }
  if (cut.multiple != 1) fmt::format_to(sink, R"(,"multiple":{})", cut.multiple);
  fmt::format_to(sink, R"(,"split":"{}"}})", ToString(cut.split));
}

void AppendSegments(std::string& out, const Segments& segments) {
  out += R"(,"segments":{)";
  const auto& blocks = segments.blocks;
  const auto is_own = [](const Segment& segment) { return segment.cut.has_value(); };
  if (std::any_of(blocks.begin(), blocks.end(), is_own)) {
    out += R"("cuts":[)";
    for (std::size_t s = 0; s < blocks.size(); ++s) {
      if (s > 0) out += ',';
      if (blocks[s].cut) {
        AppendCut(out, *blocks[s].cut, Split::kEven);
      } else {
        out += "null";
      }
    }
    out += "],";
  }
  fmt::format_to(std::back_inserter(out), R"("dim":{},"sizes":[)", segments.dim);
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    fmt::format_to(std::back_inserter(out), "{}{}", s == 0 ? "" : ",", blocks[s].size);
  }
  out += "]}";
}

/// The split of plain lists of axes in a rule: ceil if all dims that are cut have it, else even.
Split SplitOfLists(const ShardRule& rule) {
  bool any = false;
  for (const DimCut& cut : rule.dims) {
    if (cut.axes.empty()) continue;
    if (cut.split != Split::kCeil || cut.multiple != 1) return Split::kEven;
    any = true;
  }
  return any ? Split::kCeil : Split::kEven;
}

void AppendTensor(std::string& out, const TensorSpec& spec) {
  const auto sink = std::back_inserter(out);
  out += '{';
  if (!spec.aliases.empty()) {
    out += R"("aliases":[)";
    for (std::size_t a = 0; a < spec.aliases.size(); ++a) {
      if (a > 0) out += ',';
      AppendQuoted(out, spec.aliases[a]);
    }
    out += "],";
  }
  if (!spec.rule.bucket.empty()) {
    out += R"("bucket":)";
    AppendQuoted(out, spec.rule.bucket);
    out += ',';
  }
  fmt::format_to(sink, R"("dtype":"{}")", ToString(spec.dtype));
  if (spec.expert) {
    fmt::format_to(sink, R"(,"expert":{{"count":{},"index":{}}})", spec.expert->count,
                   spec.expert->index);
  }
  if (spec.rule.flat.size() == 1) {
    fmt::format_to(sink, R"(,"flat":"{}")", ToString(spec.rule.flat.front()));
  } else if (!spec.rule.flat.empty()) {
    out += R"(,"flat":)";
    AppendAxes(out, spec.rule.flat);
  }
  if (spec.place == StagePlace::kLayer) fmt::format_to(sink, R"(,"layer":{})", spec.layer);
  out += R"(,"name":)";
  AppendQuoted(out, spec.name);
  fmt::format_to(sink, R"(,"place":"{}","role":"{}","rule":[)", ToString(spec.place),
                 ToString(spec.role));
  const Split of_lists = SplitOfLists(spec.rule);
  for (std::size_t d = 0; d < spec.rule.dims.size(); ++d) {
    if (d > 0) out += ',';
    AppendCut(out, spec.rule.dims[d], of_lists);
  }
  out += ']';
  if (spec.segments) AppendSegments(out, *spec.segments);
  fmt::format_to(sink, R"(,"shape":[{}])", fmt::join(spec.shape, ","));
  if (of_lists != Split::kEven) fmt::format_to(sink, R"(,"split":"{}")", ToString(of_lists));
  out += '}';
}

}  // namespace

std::string ToJson(const Layout& layout) {
  std::string out = fmt::format(R"({{"mesh":"{}","num_layers":{})", ToString(layout.mesh()),
                                layout.collection().num_layers());
  if (layout.stage_rule() != StageRule{}) {
    fmt::format_to(std::back_inserter(out), R"(,"stages":"{}")", ToString(layout.stage_rule()));
  }
  out += R"(,"tensors":[)";
  bool first = true;
  for (const TensorSpec& spec : layout.collection().tensors()) {
    if (!first) out += ',';
    first = false;
    AppendTensor(out, spec);
  }
  out += "]}";
  return out;
}

std::string Hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }

Result<std::uint64_t> ParseHex16(std::string_view text) {
  std::uint64_t value = 0;
  bool valid = text.size() == 16;
  for (std::size_t i = 0; valid && i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    valid = digit || (c >= 'a' && c <= 'f');
    value = value << 4U | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (!valid)
    return InvalidArgument(fmt::format("'{}' is not 16 lower-case hex digits", Escaped(text)));
  return value;
}

}  // namespace tessera::ptc
