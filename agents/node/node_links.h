// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The keeper, the views and the ranks of a node, as the parts of its agent reach them.

namespace tessera::agents {

class KeeperLink;
class NodeViews;
class RankLinks;

/// They receive the handlers of the agent, so they are made after its parts. A part has a reference
/// to this and follows a pointer only when a message, a report or a timer makes it act.
struct NodeLinks {
  KeeperLink* keeper = nullptr;  // since NodeAgent::Recover
  NodeViews* views = nullptr;    // since NodeAgent::Recover
  RankLinks* ranks = nullptr;    // since NodeAgent::Start
};

}  // namespace tessera::agents
