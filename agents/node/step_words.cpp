// SPDX-License-Identifier: Apache-2.0
#include "agents/node/step_words.h"

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

void Encode(const engine::ArenaHeader& header, wire::StepDecision* out) {
  out->set_step(static_cast<std::int64_t>(header.decision_step.load()));
  out->set_clip(header.decision_clip.load());
  out->set_skip(header.decision_skip.load() != 0);
  out->set_loss(header.decision_loss.load());
  out->set_norm2(header.decision_norm2.load());
  out->set_tokens(static_cast<std::int64_t>(header.decision_tokens.load()));
}

// The step is the last word, because it makes the others valid.
void Store(const wire::StepDecision& decision, engine::ArenaHeader& header) {
  header.decision_step.store(0);
  header.decision_clip.store(decision.clip());
  header.decision_skip.store(decision.skip() ? 1 : 0);
  header.decision_loss.store(decision.loss());
  header.decision_norm2.store(decision.norm2());
  header.decision_tokens.store(static_cast<std::uint64_t>(decision.tokens()));
  header.decision_step.store(static_cast<std::uint64_t>(decision.step()));
}

}  // namespace tessera::agents
