// SPDX-License-Identifier: Apache-2.0
// Random numbers and samples of the C interface: pure functions, except that tessera_samples reads
// the current view.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "agents/job/last_error.h"
#include "agents/job/tessera_job.h"
#include "engine/data/cursor.h"
#include "engine/data/dropout.h"
#include "engine/data/random_stream.h"

namespace tessera::agents {
namespace {

Status CheckCursor(const engine::Cursor& cursor, std::int64_t num_samples, std::int64_t count) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;  // positions after it would overflow
  if (num_samples >= 1 && cursor.pass >= 0 && cursor.next >= 0 && cursor.next <= kMost &&
      count >= 0 && count < kMost) {
    return OkStatus();
  }
  return InvalidArgument(fmt::format("no position {} samples after cursor pass {}, next {} of {}",
                                     count, cursor.pass, cursor.next, num_samples));
}

struct OwnSamples {
  std::vector<std::int64_t> samples;
  std::int64_t first_place = 0;
};

Result<OwnSamples> SamplesOf(const tessera_view& view, const engine::Cursor& cursor,
                             std::int64_t num_samples, std::int64_t global_batch,
                             std::size_t room) {
  if (global_batch < 1) {
    return InvalidArgument(fmt::format("a global batch of {} samples", global_batch));
  }
  const engine::BatchShare share =
      engine::ShareOfBatch(global_batch, view.axis_coord[TESSERA_DP], view.axis_size[TESSERA_DP]);
  if (share.size() > static_cast<std::int64_t>(room)) {
    return InvalidArgument(fmt::format("this rank takes {} samples of {}, there is room for {}",
                                       share.size(), global_batch, room));
  }
  TESSERA_TRY(auto samples, engine::SamplesAt(cursor, share.begin, share.end, num_samples));
  return OwnSamples{std::move(samples), share.begin};
}

}  // namespace
}  // namespace tessera::agents

using namespace tessera;  // for the functions of the C interface below
using namespace tessera::agents;

void tessera_random_normal(int64_t seed, const char* tensor, int64_t first_element, float* out,
                           size_t count) {
  engine::RandomStream(seed, engine::RandomPurpose::kInitialise, tensor)
      .Normal(first_element, {out, count});
}

void tessera_random_uniform(int64_t seed, const char* name, int64_t sample, int64_t first_element,
                            float* out, size_t count) {
  engine::UniformNumbers(seed, name, sample, first_element, {out, count});
}

int tessera_dropout_mask(int64_t seed, uint64_t site, int64_t sample, int64_t first_element,
                         double probability, float* out, size_t count) {
  if (!(probability >= 0 && probability < 1) || first_element < 0) {
    return Failed(InvalidArgument(
        fmt::format("dropout with probability {} from element {}: the limits are [0, 1) and 0",
                    probability, first_element)));
  }
  engine::DropoutMask(seed, site, sample, first_element, probability, {out, count});
  return 0;
}

int tessera_advance(tessera_cursor* cursor, int64_t num_samples, int64_t count) {
  const engine::Cursor from{cursor->seed, cursor->pass, cursor->next};
  if (const Status sound = CheckCursor(from, num_samples, count); !sound) {
    return Failed(sound.error());
  }
  const engine::Cursor to = Advance(from, count, num_samples);
  *cursor = {to.seed, to.pass, to.next};
  return 0;
}

int tessera_samples(tessera_job* job, const tessera_cursor* cursor, int64_t num_samples,
                    int64_t global_batch, int64_t* samples, size_t room, size_t* count,
                    int64_t* first_place) {
  const engine::Cursor from{cursor->seed, cursor->pass, cursor->next};
  const auto mine = SamplesOf(*tessera_current_view(job), from, num_samples, global_batch, room);
  if (!mine) return Failed(mine.error());
  std::copy(mine->samples.begin(), mine->samples.end(), samples);
  *count = mine->samples.size();
  if (first_place != nullptr) *first_place = mine->first_place;
  return 0;
}
