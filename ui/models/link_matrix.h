// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The bytes from each node to each node of a planned, a running or a past change, or from each GPU
/// to each GPU, as plain values with their texts.

#include <QString>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/mesh.h"

namespace tessera::ui {

enum class LinkTime { Planned, Moving, Past };
enum class LinkEnds { Nodes, Gpus };

/// The flows of one change.
struct LinkFlows {
  LinkTime time = LinkTime::Planned;
  std::vector<engine::FlowStatus> flows = {};
  /// The devices of the job before and after the change. They appear also if they neither send nor
  /// receive. Empty: unknown, then all devices of the cluster appear.
  std::set<ptc::DeviceId> devices = {};
  engine::PlanCertificate certificate = {};  // of a plan
  std::int64_t storageBytes = 0;             // of a plan: read from snapshots and checkpoints
  std::optional<std::int64_t> change = {};   // of a running or a past one
  friend bool operator==(const LinkFlows&, const LinkFlows&) = default;
};

struct LinkMatrix {
  /// Above this number of GPUs the matrix has nodes.
  static constexpr std::size_t kMostDevices = 64;

  /// A row and a column: a node, or a GPU.
  struct Party {
    std::int32_t node = 0;
    std::optional<std::int32_t> index = {};
    std::vector<ptc::DeviceId> devices = {};  // ascending
    std::int64_t sends = 0, receives = 0;     // to and from other parties
    std::int64_t inside = 0;                  // between its own devices
    bool dead = false;
    friend bool operator==(const Party&, const Party&) = default;
  };
  /// The flows from one party to another one, or inside one.
  struct Link {
    int from = 0, to = 0;  // indices into `parties`
    std::int64_t bytes = 0, done = 0;
    double rate = 0;
    std::int64_t flows = 0;
    bool stalled = false;  // no flow moves, and at least one is stalled
    friend bool operator==(const Link&, const Link&) = default;
  };
  /// The port with the most bytes.
  struct Port {
    std::optional<int> party = {};  // nothing: a port of another kind, such as that of a rack
    bool in = false;
    QString sentence = {};
    friend bool operator==(const Port&, const Port&) = default;
  };

  LinkTime time = LinkTime::Planned;
  LinkEnds ends = LinkEnds::Nodes;
  std::vector<Party> parties = {};  // ascending
  std::vector<Link> links = {};     // those with bytes, by (from, to)
  std::int64_t bytes = 0;           // of all links
  std::int64_t largest = 0;         // link
  std::int64_t smallest = 0;        // link; 0 without links
  std::int64_t largestPort = 0;     // the largest of all `sends` and `receives`
  std::optional<Port> busiest = {};
  /// Bytes per second of a port to the network, and between GPUs of a host; nothing: unknown.
  std::optional<double> network = {}, memory = {};
  QString speedsFrom = {};               // "assumed", "measured 2026-11-20"
  std::vector<std::int32_t> hosts = {};  // by party: equal numbers share memory
  friend bool operator==(const LinkMatrix&, const LinkMatrix&) = default;

  int size() const { return static_cast<int>(parties.size()); }
  const Party& party(int i) const { return parties[static_cast<std::size_t>(i)]; }
  /// Returns null if the link has no bytes. O(log links).
  const Link* find(int from, int to) const;
  /// Returns the party of a device, or -1.
  int partyOf(ptc::DeviceId device) const;
  /// Returns the time that the bytes of a link take if nothing else moves, in seconds.
  std::optional<double> aloneSeconds(const Link& link) const;
  std::optional<double> speedOf(const Link& link) const;
};

/// Returns the matrix of `flows`. With LinkEnds::Gpus and more than kMostDevices devices it has
/// nodes.
LinkMatrix makeLinkMatrix(const LinkFlows& flows, const engine::ClusterSnapshot& cluster,
                          LinkEnds ends);

/// The flows of a link in their order; all of them if `link` is null.
std::vector<engine::FlowStatus> flowsOf(const LinkFlows& flows, const LinkMatrix& matrix,
                                        const LinkMatrix::Link* link);

/// Returns how strong the colour of a link with these bytes is, 0.1 to 1: by the logarithm of the
/// bytes, so that links of very different sizes differ visibly.
/// \pre 0 < bytes <= matrix.largest
double linkStrength(const LinkMatrix& matrix, std::int64_t bytes);

// Texts.
/// "n2", "n2g1".
QString partyName(const LinkMatrix::Party& party);
/// "n2 → n6"; "inside n2".
QString linkName(const LinkMatrix& matrix, int from, int to);
/// "n2 to n6: 18.4 GiB in 1,152 flows", "n2 to n3: nothing"; while bytes move also how much has
/// arrived.
QString describeLink(const LinkMatrix& matrix, int from, int to);
/// "n6 sends nothing to other nodes and receives 76.7 GiB".
QString describeParty(const LinkMatrix& matrix, int party);
/// "1 flow", "1,152 flows".
QString flowCount(std::int64_t number);
/// "11.6 GB/s (assumed), alone ≈ 1.7 s"; empty if the speed is unknown.
QString aloneText(const LinkMatrix& matrix, const LinkMatrix::Link& link);

}  // namespace tessera::ui
