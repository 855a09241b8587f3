// SPDX-License-Identifier: Apache-2.0
// Rows of the journals of agents and of the registrar. An input is read as a row of each kind, and
// as the two rows of a node's part in a transaction.
#include "agents/node/job_row.h"
#include "agents/node/transaction_part.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/txn_row.h"
#include "agents/sim/memory_store.h"
#include "agents/views/snapshot_row.h"
#include "tests/fuzz/fuzz_target.h"

using namespace tessera;

namespace {

/// What can be read is written, and read, as the same row.
template <typename Read>
void Try(const std::string& text, const Read& read) {
  const auto row = read(text);
  if (!row) return fuzz::CheckError(row.error());
  const std::string once = agents::ToText(*row);
  const auto again = read(once);
  if (!again) {
    std::fprintf(stderr, "its own text: %s\n", again.error().ToString().c_str());
    std::abort();
  }
  if (agents::ToText(*again) != once) std::abort();
}

/// The two rows of a node's part in a transaction: the input is its state, a line, and its message.
void TryPart(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return;
  agents::sim::MemoryStore journal;
  journal.rows["txn/state"] = text.substr(0, line);
  journal.rows["txn/prepare"] = text.substr(line + 1);
  const auto kept = agents::TransactionPart::Load(journal);
  if (!kept) return fuzz::CheckError(kept.error());
  if (*kept && (*kept)->prepare.size() >= text.size()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::Text(data, size));
  const auto with_key = [](auto parse) {
    return [parse](const std::string& row) { return parse("row", row); };
  };
  Try(text, with_key(agents::ParseJobRow));
  Try(text, with_key(agents::ParseJobTableRow));
  Try(text, with_key(agents::ParseSnapshotRow));
  Try(text, with_key(agents::ParseLineageRow));
  Try(text, with_key(agents::ParseCheckpointRow));
  Try(text, with_key(agents::ParseScheduleRow));
  Try(text, agents::ParseTxnRow);
  Try(text, agents::ParseRoundRow);
  TryPart(text);
  return 0;
}
