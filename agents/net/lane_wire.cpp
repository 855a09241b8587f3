// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_wire.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/copy/checksum.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0x324e4c54;  // "TLN2"
enum class Kind : std::uint32_t {
  kFrameRequest = 1,
  kFrame = 2,
  kRefusal = 3,
};
/// What a request wants and a frame carries.
constexpr std::uint8_t kDigestsBit = 1;
constexpr std::uint8_t kChecksumBit = 2;
std::uint8_t BitsOf(bool digests, bool checksum) {
  return static_cast<std::uint8_t>((digests ? kDigestsBit : 0) | (checksum ? kChecksumBit : 0));
}
constexpr std::size_t kMaxErrorText = 4096;
/// Whether a segment is of the cell of the segment before it, or its cell follows.
constexpr std::uint8_t kSameCell = 0;
constexpr std::uint8_t kNextCell = 1;

class Writer {
 public:
  Writer(Kind kind, const LaneKey& key, std::uint64_t sequence) {
    TESSERA_DCHECK(key.job.size() <= kMaxJobName);
    Put(kMagic);
    Put(static_cast<std::uint32_t>(kind));
    PutText(key.job);
    Put(key.transaction);
    Put(key.attempt);
    Put(sequence);
  }
  template <typename Number>
  void Put(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
  }
  void PutText(std::string_view text) {
    Put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  /// Small numbers take few bytes: seven bits in each, the lowest first.
  void PutNumber(std::int64_t value) {
    TESSERA_DCHECK(value >= 0);
    auto rest = static_cast<std::uint64_t>(value);
    for (; rest > 0x7f; rest >>= 7) Put(static_cast<std::uint8_t>(rest | 0x80));
    Put(static_cast<std::uint8_t>(rest));
  }
  void PutCell(const LaneCell& cell) {
    PutNumber(cell.device);
    PutNumber(cell.tensor);
    PutNumber(cell.box.rank());
    for (int d = 0; d < cell.box.rank(); ++d) {
      PutNumber(cell.box[d].begin);
      PutNumber(cell.box[d].size());
    }
  }
  std::string Finish() && {
    Put(engine::Checksum(std::as_bytes(std::span(bytes_))));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

/// Reads past the end return zeros and set `failed`, so a decoder checks once at its end.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <typename Number>
  Number Get() {
    Number value{};
    if (rest_.size() < sizeof value) {
      failed_ = true;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string GetText(std::size_t limit) {
    const auto size = Get<std::uint32_t>();
    if (size > limit || size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    std::string text(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return text;
  }
  std::int64_t GetNumber() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      const auto byte = Get<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(value);
    }
    failed_ = true;
    return 0;
  }
  std::int32_t GetSmallNumber() {
    const std::int64_t value = GetNumber();
    if (value <= std::numeric_limits<std::int32_t>::max()) return static_cast<std::int32_t>(value);
    failed_ = true;
    return 0;
  }
  LaneCell GetCell() {
    LaneCell cell;
    cell.device = GetSmallNumber();
    cell.tensor = GetSmallNumber();
    const std::int64_t rank = GetNumber();
    std::vector<ptc::Interval> dims;
    for (std::int64_t d = 0; d < rank && !failed_; ++d) {
      const std::int64_t begin = GetNumber();
      const std::int64_t size = GetNumber();
      if (rank > ptc::kMaxRank || size > std::numeric_limits<std::int64_t>::max() - begin) {
        failed_ = true;
        break;
      }
      dims.push_back({begin, begin + size});
    }
    auto box = ptc::Box::Make(dims);
    if (box) {
      cell.box = *box;
    } else {
      failed_ = true;
    }
    return cell;
  }
  /// The length of a list; 0, with `failed` set, above kMaxSegments.
  std::size_t GetCount() {
    const auto count = Get<std::uint32_t>();
    if (count <= kMaxSegments) return count;
    failed_ = true;
    return 0;
  }
  bool failed() const { return failed_; }
  bool done() const { return !failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

struct Head {
  Kind kind;
  LaneKey key;
  std::uint64_t sequence = 0;
};

/// Checks magic and checksum and leaves `reader` at the body.
Result<Head> DecodeHead(std::span<const std::byte> bytes, std::optional<Reader>& reader) {
  if (bytes.size() < sizeof(std::uint64_t)) {
    return InvalidArgument("lane message of " + std::to_string(bytes.size()) + " bytes");
  }
  const auto body = bytes.first(bytes.size() - sizeof(std::uint64_t));
  if (Reader(bytes.subspan(body.size())).Get<std::uint64_t>() != engine::Checksum(body)) {
    return DataLoss("lane message of " + std::to_string(bytes.size()) +
                    " bytes does not have its checksum");
  }
  reader.emplace(body);
  if (const auto magic = reader->Get<std::uint32_t>(); magic != kMagic) {
    return InvalidArgument("lane message has magic " + std::to_string(magic) + ", not " +
                           std::to_string(kMagic));
  }
  Head head;
  head.kind = static_cast<Kind>(reader->Get<std::uint32_t>());
  head.key.job = reader->GetText(kMaxJobName);
  head.key.transaction = reader->Get<std::int64_t>();
  head.key.attempt = reader->Get<std::int64_t>();
  head.sequence = reader->Get<std::uint64_t>();
  return head;
}

Error UnknownKind(const Head& head) {
  return InvalidArgument("lane message of unknown kind " +
                         std::to_string(static_cast<std::uint32_t>(head.kind)));
}
Error BadBody(std::string_view what) {
  return InvalidArgument(std::string(what) + " has bytes missing, left over or out of range");
}

}  // namespace

std::string ToString(const LaneKey& key) {
  return key.job + " transaction " + std::to_string(key.transaction) + " attempt " +
         std::to_string(key.attempt);
}

std::string ToString(const LaneCell& cell) {
  return "tensor " + std::to_string(cell.tensor) + " " + ptc::ToString(cell.box);
}

std::string Encode(const FrameRequest& request) {
  Writer out(Kind::kFrameRequest, request.key, request.sequence);
  for (const std::byte byte : request.ticket) out.Put(static_cast<std::uint8_t>(byte));
  out.Put(request.frame);
  out.Put(BitsOf(request.wants_digests, request.wants_checksum));
  out.Put(static_cast<std::uint32_t>(request.segments.size()));
  const LaneCell* last = nullptr;
  for (const LaneSegment& segment : request.segments) {
    const bool is_same = last != nullptr && *last == segment.cell;
    out.Put(std::uint8_t{is_same ? kSameCell : kNextCell});
    if (!is_same) out.PutCell(segment.cell);
    out.PutNumber(segment.offset);
    out.PutNumber(segment.size);
    last = &segment.cell;
  }
  return std::move(out).Finish();
}

std::string Encode(const LaneReply& reply) {
  if (const auto* frame = std::get_if<FrameHeader>(&reply)) {
    Writer out(Kind::kFrame, frame->key, frame->sequence);
    out.Put(frame->frame);
    out.Put(frame->size);
    out.Put(BitsOf(!frame->digests.empty(), frame->checksum.has_value()));
    if (frame->checksum) out.Put(*frame->checksum);
    if (!frame->digests.empty()) {
      out.Put(static_cast<std::uint32_t>(frame->digests.size()));
      for (const std::uint64_t digest : frame->digests) out.Put(digest);
    }
    return std::move(out).Finish();
  }
  const auto& refusal = std::get<LaneRefusal>(reply);
  Writer out(Kind::kRefusal, refusal.key, refusal.sequence);
  out.Put(static_cast<std::uint32_t>(refusal.error.code));
  out.PutText(std::string_view(refusal.error.ToString()).substr(0, kMaxErrorText));
  return std::move(out).Finish();
}

Result<FrameRequest> DecodeFrameRequest(std::span<const std::byte> bytes) {
  std::optional<Reader> in;
  TESSERA_TRY(Head head, DecodeHead(bytes, in));
  if (head.kind != Kind::kFrameRequest) return UnknownKind(head);
  FrameRequest request;
  request.key = std::move(head.key);
  request.sequence = head.sequence;
  for (std::byte& byte : request.ticket) byte = std::byte{in->Get<std::uint8_t>()};
  request.frame = in->Get<std::uint32_t>();
  const auto bits = in->Get<std::uint8_t>();
  request.wants_digests = (bits & kDigestsBit) != 0;
  request.wants_checksum = (bits & kChecksumBit) != 0;
  const std::size_t count = in->GetCount();
  std::int64_t total = 0;
  bool good = count > 0 && bits <= (kDigestsBit | kChecksumBit);
  for (std::size_t i = 0; i < count && good; ++i) {
    const auto which = in->Get<std::uint8_t>();
    const bool is_same = which == kSameCell && i > 0;
    LaneSegment segment;
    if (is_same) {
      segment.cell = request.segments.back().cell;
    } else {
      segment.cell = in->GetCell();
    }
    segment.offset = in->GetNumber();
    segment.size = in->GetNumber();
    good = !in->failed() && (is_same || which == kNextCell) && segment.size > 0 &&
           segment.size <= kMostLaneFrameBytes - total;
    if (good) total += segment.size;
    request.segments.push_back(std::move(segment));
  }
  if (!good || !in->done()) return BadBody("lane frame request");
  return request;
}

Result<LaneReply> DecodeLaneReply(std::span<const std::byte> bytes) {
  std::optional<Reader> in;
  TESSERA_TRY(Head head, DecodeHead(bytes, in));
  if (head.kind == Kind::kFrame) {
    FrameHeader frame;
    frame.key = std::move(head.key);
    frame.sequence = head.sequence;
    frame.frame = in->Get<std::uint32_t>();
    frame.size = in->Get<std::int64_t>();
    const auto bits = in->Get<std::uint8_t>();
    if ((bits & kChecksumBit) != 0) frame.checksum = in->Get<std::uint64_t>();
    bool good = bits <= (kDigestsBit | kChecksumBit);
    if ((bits & kDigestsBit) != 0) {
      frame.digests.resize(in->GetCount());
      good = good && !frame.digests.empty();
      for (std::uint64_t& digest : frame.digests) digest = in->Get<std::uint64_t>();
    }
    if (!good || !in->done() || frame.size <= 0 || frame.size > kMostLaneFrameBytes) {
      return BadBody("lane frame header");
    }
    return LaneReply(std::move(frame));
  }
  if (head.kind == Kind::kRefusal) {
    LaneRefusal refusal{std::move(head.key), head.sequence, {}};
    const auto code = in->Get<std::uint32_t>();
    refusal.error.message = in->GetText(kMaxErrorText);
    if (!in->done() || code > static_cast<std::uint32_t>(kLastErrorCode)) {
      return BadBody("lane refusal");
    }
    refusal.error.code = static_cast<ErrorCode>(code);
    return LaneReply(std::move(refusal));
  }
  return UnknownKind(head);
}

}  // namespace tessera::agents
