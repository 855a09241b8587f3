// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/copier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/copy/cell_view.h"
#include "engine/reshard/metadata.h"
#include "ptc/base/check.h"
#include "ptc/convert.h"
#include "ptc/digest.h"

namespace tessera::reshard {
namespace {

using checkpoint::Piece;

/// The size of the buffer that gathers rows of a tile which are not adjacent in memory.
constexpr std::int64_t kGatherBytes = std::int64_t{1} << 20;

std::size_t Index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Copier::Copier(const checkpoint::Checkpoint& source, const ReshardPlan& plan,
               std::vector<std::string> paths, const Options& options, ReshardJournal& journal)
    : source_(source),
      plan_(plan),
      options_(options),
      journal_(journal),
      paths_(std::move(paths)),
      files_(paths_, checkpoint::File::Mode::kCreate),
      done_(Index(plan.tiles.count()), false) {
  meter_.bytes_total = plan.source_bytes;
  sums_.of_source.resize(plan.tensors.size(), 0);
  sums_.of_pieces.resize(plan.arrangement.pieces.size(), 0);
  for (const std::vector<int>& pieces : plan.arrangement.of_tensor) {
    std::vector<std::int64_t> reach;
    for (const int p : pieces) {
      const auto& box = plan.arrangement.units[Index(p)];
      if (!box || box->rank() == 0) continue;
      reach.push_back(std::max(reach.empty() ? 0 : reach.back(), (*box)[0].end));
    }
    reach_.push_back(std::move(reach));
  }
}

Status Copier::MakeFiles() {
  for (std::size_t f = 0; f < paths_.size(); ++f) {
    const checkpoint::Header& header = plan_.arrangement.files[f].header;
    const std::int64_t bytes = header.tensors.empty() ? 0 : header.tensors.back().end;
    TESSERA_TRY(const checkpoint::FilePtr file, files_.Get(static_cast<int>(f)));
    TESSERA_RETURN_IF_ERROR(file->Resize(plan_.header_bytes[f] + bytes));
  }
  return OkStatus();
}

std::vector<Copier::TilePiece> Copier::PiecesOf(const TileSequence::Tile& tile) const {
  const std::vector<int>& pieces = plan_.arrangement.of_tensor[Index(tile.tensor)];
  const std::vector<std::int64_t>& reach = reach_[Index(tile.tensor)];
  std::vector<TilePiece> parts;
  std::size_t i = 0;
  if (!reach.empty()) {
    i = Index(std::ranges::upper_bound(reach, tile.box[0].begin) - reach.begin());
  }
  for (; i < pieces.size(); ++i) {
    const ptc::Box& box = *plan_.arrangement.units[Index(pieces[i])];
    if (box.rank() > 0 && box[0].begin >= tile.box[0].end) break;
    if (const auto both = Intersect(box, tile.box)) parts.push_back({pieces[i], *both});
  }
  return parts;
}

std::int64_t Copier::SourceBytes(const TileSequence::Tile& tile) const {
  return tile.box.num_elements() * ptc::SizeBytes(source_.tensors()[Index(tile.tensor)].dtype);
}

void Copier::AddDigests(const DoneTile& done, int tensor, const std::vector<TilePiece>& parts) {
  sums_.of_source[Index(tensor)] += done.source_digest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sums_.of_pieces[Index(parts[i].piece)] += done.digests[i];
  }
}

Status Copier::Resume(const std::vector<DoneTile>& done) {
  for (const DoneTile& tile : done) {
    if (tile.tile < 0 || tile.tile >= plan_.tiles.count() || done_[Index(tile.tile)]) {
      return DataLoss(
          fmt::format("the journal has tile {} twice, or beyond the {} tiles of the plan",
                      tile.tile, plan_.tiles.count()));
    }
    const auto where = plan_.tiles.At(tile.tile);
    const auto parts = PiecesOf(where);
    if (parts.size() != tile.digests.size()) {
      return DataLoss(fmt::format("the journal has {} digests for tile {}, which covers {} pieces",
                                  tile.digests.size(), tile.tile, parts.size()));
    }
    AddDigests(tile, where.tensor, parts);
    done_[Index(tile.tile)] = true;
    bytes_resumed_ += SourceBytes(where);
  }
  meter_.bytes_done = bytes_resumed_;
  bytes_kept_ = bytes_resumed_;
  return OkStatus();
}

Status Copier::Run() {
  std::vector<Buffers> buffers(Index(options_.threads));
  const Status run = RunPieces(plan_.tiles.count(), options_.threads, meter_, options_.watch,
                               [&](int worker, std::int64_t tile) -> Status {
                                 if (done_[Index(tile)]) return OkStatus();
                                 return CopyTile(buffers[Index(worker)], tile);
                               });
  const Status commit = Commit();
  return run ? commit : run;
}

Status Copier::CopyTile(Buffers& buffers, std::int64_t number) {
  const auto tile = plan_.tiles.At(number);
  const ptc::DType from = source_.tensors()[Index(tile.tensor)].dtype;
  const OutTensor& tensor = plan_.tensors[Index(tile.tensor)];
  const ptc::Shape& shape = plan_.unit_shapes[Index(tile.tensor)];
  const std::int64_t elements = tile.box.num_elements();
  const std::int64_t bytes = SourceBytes(tile);
  if (buffers.read.empty()) buffers.read.resize(Index(plan_.tile_bytes));
  std::span<std::byte> data = std::span(buffers.read).first(Index(bytes));
  TESSERA_RETURN_IF_ERROR(source_.Read(tile.tensor, tile.box, data));

  DoneTile done{number};
  if (from != tensor.dtype) {
    const std::int64_t first_byte = FirstIndex(shape, tile.box) * ptc::SizeBytes(from);
    done.source_digest = ptc::DigestRun(static_cast<std::uint64_t>(first_byte), data);
    if (buffers.converted.empty()) buffers.converted.resize(Index(plan_.tile_bytes));
    const auto converted =
        std::span(buffers.converted).first(Index(elements * ptc::SizeBytes(tensor.dtype)));
    ptc::Convert(from, data.data(), tensor.dtype, converted.data(), elements);
    data = converted;
  }
  const auto parts = PiecesOf(tile);
  for (const TilePiece& part : parts) {
    done.digests.push_back(ptc::DigestBox(tensor.dtype, shape, tile.box, data.data(), part.box));
    if (from == tensor.dtype) done.source_digest += done.digests.back();
    TESSERA_RETURN_IF_ERROR(WriteTilePiece(buffers, tile, part, data));
  }
  return AddDone(std::move(done), bytes, parts);
}

Status Copier::WriteTilePiece(Buffers& buffers, const TileSequence::Tile& tile,
                              const TilePiece& part, std::span<std::byte> bytes) {
  const ptc::DType dtype = plan_.tensors[Index(tile.tensor)].dtype;
  const PieceLocation& location = plan_.arrangement.locations[Index(part.piece)];
  const auto start = ContiguousOffset(*plan_.arrangement.units[Index(part.piece)], part.box);
  TESSERA_CHECK(start.has_value());  // tiles.h
  const std::int64_t offset =
      plan_.header_bytes[Index(location.file)] + location.offset + *start * ptc::SizeBytes(dtype);
  const engine::CellView view(tile.box, part.box, ptc::SizeBytes(dtype), bytes.data());
  TESSERA_TRY(const checkpoint::FilePtr file, files_.Get(location.file));
  bytes_written_ += view.size_bytes();
  if (view.num_runs() == 1) {
    return file->WriteAt(offset, {view.Run(0), Index(view.size_bytes())});
  }
  if (buffers.gather.empty()) buffers.gather.resize(Index(kGatherBytes));
  for (std::int64_t at = 0; at < view.size_bytes();) {
    const std::int64_t size = std::min(kGatherBytes, view.size_bytes() - at);
    const auto gathered = std::span(buffers.gather).first(Index(size));
    view.Read(at, gathered);
    TESSERA_RETURN_IF_ERROR(file->WriteAt(offset + at, gathered));
    at += size;
  }
  return OkStatus();
}

Status Copier::AddDone(DoneTile done, std::int64_t bytes, const std::vector<TilePiece>& parts) {
  bool full = false;
  {
    const std::lock_guard lock(mutex_);
    AddDigests(done, plan_.tiles.At(done.tile).tensor, parts);
    pending_.push_back(std::move(done));
    pending_bytes_ += bytes;
    for (const TilePiece& part : parts) {
      touched_.insert(plan_.arrangement.locations[Index(part.piece)].file);
    }
    full = pending_bytes_ >= options_.commit_bytes;
  }
  meter_.bytes_done += bytes;
  return full ? Commit() : OkStatus();
}

Status Copier::Commit() {
  const std::lock_guard commit(commit_mutex_);
  std::vector<DoneTile> tiles;
  std::set<int> touched;
  std::int64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    tiles.swap(pending_);
    touched.swap(touched_);
    bytes = std::exchange(pending_bytes_, 0);
  }
  if (tiles.empty()) return OkStatus();
  for (const int f : touched) {
    TESSERA_TRY(const checkpoint::FilePtr file, files_.Get(f));
    TESSERA_RETURN_IF_ERROR(file->Sync());
  }
  TESSERA_RETURN_IF_ERROR(journal_.Add(tiles));
  bytes_kept_ += bytes;
  return OkStatus();
}

Status Copier::Finish() {
  for (std::size_t f = 0; f < paths_.size(); ++f) {
    const OutFile& file = plan_.arrangement.files[f];
    TESSERA_TRY(const std::string header,
                checkpoint::PrintHeader(WithDigests(file, sums_.of_pieces), kHeaderAlignment));
    TESSERA_CHECK(std::ssize(header) == plan_.header_bytes[f]);
    TESSERA_TRY(const checkpoint::FilePtr out, files_.Get(static_cast<int>(f)));
    TESSERA_RETURN_IF_ERROR(out->WriteAt(0, std::as_bytes(std::span(header))));
    TESSERA_RETURN_IF_ERROR(out->Sync());
    bytes_written_ += std::ssize(header);
  }
  return OkStatus();
}

}  // namespace tessera::reshard
