// SPDX-License-Identifier: Apache-2.0
#include "ptc/rules/rule_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tessera::ptc {
namespace {

/// The usual words for cuts, for weights of shape [out, in] and their biases.
struct CutWord {
  enum class By : std::uint8_t { kEven, kCeil, kQueryHeads, kKvHeads };
  std::string_view name;
  int dim;  // the dim that tp cuts; -1: none
  By by = By::kEven;
};
constexpr std::array<CutWord, 7> kCutWords = {{{"colwise", 0},
                                               {"rowwise", 1},
                                               {"colwise_q", 0, CutWord::By::kQueryHeads},
                                               {"colwise_kv", 0, CutWord::By::kKvHeads},
                                               {"rowwise_q", 1, CutWord::By::kQueryHeads},
                                               {"vocab", 0, CutWord::By::kCeil},
                                               {"replicate", -1}}};
constexpr std::string_view kCutWordNames =
    "colwise, rowwise, colwise_q, colwise_kv, rowwise_q, vocab, replicate";

/// Reads the cuts of one rule.
class CutReader {
 public:
  CutReader(const NamedText& file, const Values& values) : file_(file), values_(values) {}

  Result<RuleCut> Word(const JsonReader& reader, const JsonValue& value) const {
    const auto word = std::ranges::find(kCutWords, value.text, &CutWord::name);
    if (word == kCutWords.end() || value.kind != JsonValue::Kind::kText) {
      return reader.Expected(value, fmt::format("{} or an object with dims", kCutWordNames));
    }
    RuleCut cut;
    if (word->dim < 0) return cut;
    cut.rule.dims.resize(static_cast<std::size_t>(word->dim) + 1);
    TESSERA_TRY(cut.rule.dims.back(), OverTp(reader, value, word->by));
    return cut;
  }

  Result<RuleCut> Object(const JsonValue& value) const {
    TESSERA_TRY(
        const auto reader,
        JsonReader::Make(file_, value, "a cut", {"dims", "split", "segments", "flat", "bucket"}));
    RuleCut cut;
    Split of_lists = Split::kEven;
    if (const JsonValue* split = reader.Find("split")) {
      const auto known = ParseSplit(split->text);
      if (!known || *known == Split::kHeads) return reader.Expected(*split, "even or ceil");
      of_lists = *known;
    }
    if (reader.Find("dims") != nullptr) {
      TESSERA_TRY(const auto* dims, reader.List("dims"));
      for (const JsonValue& dim : *dims) {
        TESSERA_TRY(DimCut one, Dim(reader, dim, of_lists));
        cut.rule.dims.push_back(std::move(one));
      }
    }
    if (const JsonValue* segments = reader.Find("segments")) {
      TESSERA_TRY(cut.segments, SegmentsOf(*segments, of_lists));
    }
    if (const JsonValue* flat = reader.Find("flat")) {
      TESSERA_TRY(cut.rule.flat, Axes(reader, *flat));
    }
    if (reader.Find("bucket") != nullptr) {
      TESSERA_TRY(cut.rule.bucket, reader.Text("bucket"));
    }
    return cut;
  }

 private:
  Result<DimCut> OverTp(const JsonReader& reader, const JsonValue& at, CutWord::By by) const {
    DimCut cut{{Axis::kTp}};
    if (by == CutWord::By::kCeil) cut.split = Split::kCeil;
    if (by != CutWord::By::kQueryHeads && by != CutWord::By::kKvHeads) return cut;
    cut.split = Split::kHeads;
    cut.heads = HeadGroups{.of_query = by == CutWord::By::kQueryHeads};
    TESSERA_TRY(cut.heads->query, ValueOf(reader, at, "heads", values_));
    TESSERA_TRY(cut.heads->kv, ValueOf(reader, at, "kv_heads", values_));
    return cut;
  }

  static Result<Axis> OneAxis(const JsonReader& reader, const JsonValue& value) {
    const auto axis = ParseAxis(value.text);
    if (axis && value.kind == JsonValue::Kind::kText) return *axis;
    return reader.At(
        value, fmt::format("expected one of the axes pp, dp, ep, cp, tp, not {}", Describe(value)));
  }

  /// One axis or a list of them.
  static Result<std::vector<Axis>> Axes(const JsonReader& reader, const JsonValue& value) {
    std::vector<Axis> axes;
    if (value.kind != JsonValue::Kind::kList) {
      TESSERA_TRY(const Axis axis, OneAxis(reader, value));
      return std::vector{axis};
    }
    for (const JsonValue& item : value.items) {
      TESSERA_TRY(const Axis axis, OneAxis(reader, item));
      axes.push_back(axis);
    }
    return axes;
  }

  Result<DimCut> Dim(const JsonReader& reader, const JsonValue& value, Split of_lists) const {
    if (value.kind == JsonValue::Kind::kText && value.text == "heads_q") {
      return OverTp(reader, value, CutWord::By::kQueryHeads);
    }
    if (value.kind == JsonValue::Kind::kText && value.text == "heads_kv") {
      return OverTp(reader, value, CutWord::By::kKvHeads);
    }
    if (value.kind == JsonValue::Kind::kObject) return Explicit(value);
    if (value.kind != JsonValue::Kind::kList) {
      return reader.At(value, fmt::format("expected a list of axes, an object with axes, heads_q "
                                          "or heads_kv for each dim, not {}",
                                          Describe(value)));
    }
    DimCut cut;
    cut.split = of_lists;
    TESSERA_TRY(cut.axes, Axes(reader, value));
    return cut;
  }

  Result<DimCut> Explicit(const JsonValue& value) const {
    TESSERA_TRY(const auto reader, JsonReader::Make(file_, value, "the cut of a dim",
                                                    {"axes", "split", "multiple", "heads"}));
    DimCut cut;
    TESSERA_TRY(const JsonValue* axes, reader.Member("axes"));
    TESSERA_TRY(cut.axes, Axes(reader, *axes));
    if (const JsonValue* heads = reader.Find("heads")) {
      TESSERA_TRY(cut.heads, Heads(*heads));
      cut.split = Split::kHeads;
    }
    if (const JsonValue* split = reader.Find("split")) {
      const auto known = ParseSplit(split->text);
      if (!known || (*known == Split::kHeads) != cut.heads.has_value()) {
        return reader.Expected(*split, cut.heads ? "heads beside 'heads'" : "even or ceil");
      }
      cut.split = *known;
    }
    if (const JsonValue* multiple = reader.Find("multiple")) {
      TESSERA_TRY(cut.multiple, ReadNumber(reader, "multiple", values_));
      if (cut.split != Split::kCeil || cut.multiple < 1) {
        return reader.Expected(*multiple, "a number from 1 beside the split ceil");
      }
    }
    return cut;
  }

  Result<HeadGroups> Heads(const JsonValue& value) const {
    TESSERA_TRY(const auto reader, JsonReader::Make(file_, value, "heads", {"kv", "query", "of"}));
    HeadGroups heads;
    TESSERA_TRY(heads.kv, ReadNumber(reader, "kv", values_));
    TESSERA_TRY(heads.query, ReadNumber(reader, "query", values_));
    TESSERA_TRY(const JsonValue* of, reader.Member("of"));
    if (of->text != "query" && of->text != "kv") return reader.Expected(*of, "query or kv");
    heads.of_query = of->text == "query";
    return heads;
  }

  Result<RuleSegments> SegmentsOf(const JsonValue& value, Split of_lists) const {
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file_, value, "segments", {"dim", "sizes", "cuts"}));
    RuleSegments segments;
    TESSERA_TRY(const std::int64_t dim, reader.Integer("dim", 0, kMaxRank - 1));
    segments.dim = static_cast<int>(dim);
    if (reader.Find("sizes") != nullptr) {
      TESSERA_TRY(segments.sizes, ReadNumbers(reader, "sizes", values_));
    }
    if (reader.Find("cuts") == nullptr) return segments;
    TESSERA_TRY(const auto* cuts, reader.List("cuts"));
    segments.cuts.emplace();
    for (const JsonValue& item : *cuts) {
      if (item.kind == JsonValue::Kind::kNull) {
        segments.cuts->emplace_back();
        continue;
      }
      TESSERA_TRY(DimCut cut, Dim(reader, item, of_lists));
      segments.cuts->emplace_back(std::move(cut));
    }
    if (segments.sizes && segments.sizes->size() != segments.cuts->size()) {
      return reader.At(
          fmt::format("{} cuts for {} segments", segments.cuts->size(), segments.sizes->size()));
    }
    return segments;
  }

  const NamedText& file_;
  const Values& values_;
};

}  // namespace

Result<RuleCut> ReadCut(const NamedText& file, const JsonReader& rule, const Values& values) {
  TESSERA_TRY(const JsonValue* value, rule.Member("cut"));
  const CutReader reader(file, values);
  return value->kind == JsonValue::Kind::kObject ? reader.Object(*value)
                                                 : reader.Word(rule, *value);
}

Status Apply(const RuleCut& cut, TensorSpec& spec) {
  spec.rule = cut.rule;
  if (!cut.segments) return OkStatus();
  const RuleSegments& wanted = *cut.segments;
  if (!spec.segments) {
    if (!wanted.sizes) {
      return InvalidArgument("neither the rule nor the tensor gives the sizes of the segments");
    }
    spec.segments = Segments{wanted.dim, {}};
    for (std::int64_t size : *wanted.sizes) spec.segments->blocks.push_back({size});
  }
  std::vector<Segment>& blocks = spec.segments->blocks;
  if (spec.segments->dim != wanted.dim) {
    return InvalidArgument(fmt::format("segments of dim {} in the rule, of dim {} in the tensor",
                                       wanted.dim, spec.segments->dim));
  }
  if (wanted.sizes && !std::ranges::equal(*wanted.sizes, blocks, {}, {}, &Segment::size)) {
    return InvalidArgument("the sizes of the segments differ between the rule and the tensor");
  }
  if (!wanted.cuts) return OkStatus();
  if (wanted.cuts->size() != blocks.size()) {
    return InvalidArgument(
        fmt::format("{} cuts for {} segments", wanted.cuts->size(), blocks.size()));
  }
  for (std::size_t s = 0; s < blocks.size(); ++s) blocks[s].cut = (*wanted.cuts)[s];
  return OkStatus();
}

}  // namespace tessera::ptc
