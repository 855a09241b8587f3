// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The messages of the registrar in their order, each with the documents that it names.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// A message that lacks documents waits for them, and those behind it wait too: a Prepare must not
/// be carried out after the outcome of its transaction.
/// \threadsafety The loop's thread.
class Inbox {
 public:
  using Text = std::shared_ptr<const std::string>;
  struct World {
    /// Asks the registrar for documents.
    std::function<void(const std::vector<std::uint64_t>& hashes)> ask;
    std::function<void(const wire::ToNode& message)> deliver;
    /// Keeps the text of a document, which the agents of one process share.
    std::function<Text(const std::string& text)> share = [](const std::string& text) {
      return std::make_shared<const std::string>(text);
    };
  };
  explicit Inbox(World world) : world_(std::move(world)) {}

  void Take(wire::ToNode message);
  /// Drops what waits: the node registers again, and the registrar then repeats what still holds.
  void Clear() {
    waiting_.clear();
    num_asked_ = 0;
  }
  /// Asks again for what is still missing. The question or the answer may have been lost. After
  /// kMostQuestions the message is dropped.
  void AskAgain();

 private:
  /// Layouts, settings and peers of some jobs and of a transaction.
  static constexpr std::size_t kMostDocuments = 32;
  static constexpr std::size_t kMostWaiting = 10'000;
  static constexpr int kMostQuestions = 20;

  void OnDocument(const wire::Document& document);
  void DeliverComplete();
  std::vector<std::uint64_t> MissingOf(const wire::ToNode& message) const;
  void Fill(wire::ToNode& message);
  const std::string& Use(std::uint64_t hash);

  const World world_;
  std::deque<wire::ToNode> waiting_;
  std::map<std::uint64_t, Text> documents_;  // by hash
  std::deque<std::uint64_t> order_;          // the least recently used first
  int num_asked_ = 0;                        // for what the first message lacks
  bool delivers_ = false;
};

}  // namespace tessera::agents
