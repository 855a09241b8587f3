// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one thread of the kernel on cells does: it copies bytes of a cell from one memory to
/// another, where the cell may be laid out differently, and computes the digest of these bytes
/// (ptc/digest.h). One body for all: nvcc compiles it for a device, and tests and the emulated
/// driver call it in a loop over the threads.
///
/// A cell is walked in runs, which are contiguous in all memories. A run is cut into segments, and
/// kGroup threads that follow each other take a segment together, so that their accesses coalesce.

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define TESSERA_DEVICE __host__ __device__
#else
#define TESSERA_DEVICE
#endif

namespace tessera::agents::gpu {

/// The name of the kernel in the module: `extern "C" __global__ void (CellWork)`.
inline constexpr const char* kCellKernel = "tessera_cells";
inline constexpr int kMaxOuterDims = 8;

/// Where the runs of a cell lie. The sizes of the dims across runs are in CellWork.
struct RunPlaces {
  std::uint64_t first = 0;  // of the first run: an address; of a tensor: an offset in bytes
  std::int64_t stride[kMaxOuterDims] = {};  // in bytes, innermost last
};

/// The argument of the kernel: bytes [begin, end) of a packed cell, copied from `from` to `to`.
struct CellWork {
  RunPlaces from;
  RunPlaces to;                           // first == 0: nothing is written
  RunPlaces index;                        // offsets in the uncut tensor, for the digest
  std::int64_t size[kMaxOuterDims] = {};  // runs along each outer dim, innermost last
  std::int32_t outer_dims = 0;
  std::int32_t unit = 1;  // bytes of an access: 16, 8, 4, 2 or 1; divides all other numbers
  std::int64_t run_bytes = 0;
  std::int64_t segment_bytes = 0;  // a multiple of `unit`
  std::int64_t begin = 0, end = 0;
  std::int32_t group = 1;    // threads of a segment: a power of two, at most 32
  std::uint64_t digest = 0;  // address of 64 bits to which the digest is added; 0: none
};

TESSERA_DEVICE constexpr std::uint64_t MixWord(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// What one access reads or writes.
template <std::size_t kUnit>
struct alignas(kUnit) Unit {
  std::uint32_t words[kUnit / 4];
};
template <>
struct alignas(1) Unit<1> {
  std::uint8_t words[1];
};
template <>
struct alignas(2) Unit<2> {
  std::uint16_t words[1];
};

/// The digest of a unit at offset `first_byte` of the tensor, a multiple of kUnit.
template <std::size_t kUnit>
TESSERA_DEVICE inline std::uint64_t DigestUnit(std::uint64_t first_byte, const Unit<kUnit>& unit) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t word = first_byte / 4;
  std::uint64_t factor = MixWord(word / 64 + 1) + word % 64 * kStep;
  if constexpr (kUnit < 4) {
    const std::uint32_t value = static_cast<std::uint32_t>(unit.words[0]) << (first_byte % 4 * 8);
    return value * ((factor >> 32) | 1);
  } else {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kUnit / 4; ++i, factor += kStep)
      sum += unit.words[i] * ((factor >> 32) | 1);
    return sum;
  }
}

/// The quotient of two numbers that are not negative, and the remainder in their place. Devices
/// divide 64 bits several times more slowly than 32.
TESSERA_DEVICE inline std::int64_t Divide(std::int64_t& value, std::int64_t by) {
  if (by == 1) {
    const std::int64_t all = value;
    value = 0;
    return all;
  }
  if (((value | by) >> 32) == 0) {
    const auto low = static_cast<std::uint32_t>(value), divisor = static_cast<std::uint32_t>(by);
    const std::uint32_t quotient = low / divisor;
    value = low - quotient * divisor;
    return quotient;
  }
  const std::int64_t quotient = value / by;
  value -= quotient * by;
  return quotient;
}

/// Where run `run` begins, for each of the three.
struct RunStarts {
  std::uint64_t from, to, index;
};
TESSERA_DEVICE inline RunStarts StartsOf(const CellWork& work, std::int64_t run) {
  RunStarts at{work.from.first, work.to.first, work.index.first};
  for (int d = work.outer_dims - 1; d >= 0; --d) {
    std::int64_t i = run;
    run = Divide(i, work.size[d]);
    at.from += static_cast<std::uint64_t>(i * work.from.stride[d]);
    at.to += static_cast<std::uint64_t>(i * work.to.stride[d]);
    at.index += static_cast<std::uint64_t>(i * work.index.stride[d]);
  }
  return at;
}

/// Segments of all runs that the range touches.
TESSERA_DEVICE inline std::int64_t SegmentsOfRun(const CellWork& work) {
  return (work.run_bytes + work.segment_bytes - 1) / work.segment_bytes;
}
TESSERA_DEVICE inline std::int64_t NumSegments(const CellWork& work) {
  const std::int64_t first = work.begin / work.run_bytes;
  const std::int64_t last = (work.end - 1) / work.run_bytes;
  return (last - first + 1) * SegmentsOfRun(work);
}

/// Accesses of a thread that are under way at the same time.
inline constexpr int kAtOnce = 4;

/// Units [begin, end) of a run, every `step` bytes, in parts of kCount.
template <std::size_t kUnit, int kCount>
TESSERA_DEVICE inline std::uint64_t RunPart(const CellWork& work, const RunStarts& at,
                                            std::int64_t& begin, std::int64_t end,
                                            std::int64_t step) {
  std::uint64_t digest = 0;
  for (; begin + (kCount - 1) * step < end; begin += kCount * step) {
    Unit<kUnit> units[static_cast<std::size_t>(kCount)];
    for (int i = 0; i < kCount; ++i) {
      const auto offset = static_cast<std::uint64_t>(begin + i * step);
      units[i] = *reinterpret_cast<const Unit<kUnit>*>(at.from + offset);
    }
    for (int i = 0; i < kCount; ++i) {
      const auto offset = static_cast<std::uint64_t>(begin + i * step);
      if (work.to.first != 0) *reinterpret_cast<Unit<kUnit>*>(at.to + offset) = units[i];
      if (work.digest != 0) digest += DigestUnit(at.index + offset, units[i]);
    }
  }
  return digest;
}

template <std::size_t kUnit>
TESSERA_DEVICE inline std::uint64_t RunUnits(const CellWork& work, std::int64_t thread,
                                             std::int64_t threads) {
  const std::int64_t segments_of_run = SegmentsOfRun(work);
  const std::int64_t segments = NumSegments(work);
  const std::int64_t first_run = work.begin / work.run_bytes;
  constexpr auto kBytes = static_cast<std::int64_t>(kUnit);
  const std::int64_t lane = thread % work.group * kBytes;
  const std::int64_t step = work.group * kBytes;
  std::uint64_t digest = 0;
  for (std::int64_t s = thread / work.group; s < segments; s += threads / work.group) {
    std::int64_t begin = s;
    const std::int64_t run = first_run + Divide(begin, segments_of_run);
    begin *= work.segment_bytes;  // inside the run
    std::int64_t end = begin + work.segment_bytes;
    if (end > work.run_bytes) end = work.run_bytes;
    const std::int64_t run_begins = run * work.run_bytes;  // in the packed cell
    if (begin < work.begin - run_begins) begin = work.begin - run_begins;
    if (end > work.end - run_begins) end = work.end - run_begins;
    if (begin >= end) continue;
    const RunStarts at = StartsOf(work, run);
    begin += lane;
    digest += RunPart<kUnit, kAtOnce>(work, at, begin, end, step);
    digest += RunPart<kUnit, 2>(work, at, begin, end, step);
    digest += RunPart<kUnit, 1>(work, at, begin, end, step);
  }
  return digest;
}

/// The part of thread `thread` of `threads`.
/// \return its part of the digest: the sum over all threads is that of the range
/// \pre work.begin < work.end; `threads` is a multiple of work.group
TESSERA_DEVICE inline std::uint64_t RunCellThread(const CellWork& work, std::int64_t thread,
                                                  std::int64_t threads) {
  switch (work.unit) {
    case 16:
      return RunUnits<16>(work, thread, threads);
    case 8:
      return RunUnits<8>(work, thread, threads);
    case 4:
      return RunUnits<4>(work, thread, threads);
    case 2:
      return RunUnits<2>(work, thread, threads);
    default:
      return RunUnits<1>(work, thread, threads);
  }
}

}  // namespace tessera::agents::gpu
