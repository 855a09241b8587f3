// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The latest known state of the cluster: snapshot, link, events and samples. One timer reduces any
/// number of updates to at most 30 notifications per second.

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// None: no cluster is selected. Stopped: a user has stopped the cluster.
enum class LinkState { None, Connecting, Connected, Lost, Refused, Stopped };

/// The end of a cluster that a user has stopped.
struct ClusterStop {
  double time = 0;  // wall clock, seconds since 1970
  QString by = {};  // who, as in events; empty: unknown
  friend bool operator==(const ClusterStop&, const ClusterStop&) = default;
};

/// Lives on the GUI thread; other threads reach its slots by queued invocation.
class ClusterModel : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMaxNotificationsPerSecond = 30;
  /// A cluster publishes at least once per second of its own time; after this long it is silent.
  static constexpr double kSilentSeconds = 3;
  /// Reasons and names of hosts are cut to this many bytes.
  static constexpr std::size_t kMostText = 2000;

  explicit ClusterModel(QObject* parent = nullptr);

  bool hasSnapshot() const { return m_hasSnapshot; }
  /// The newest snapshot; empty before the first one.
  const engine::ClusterSnapshot& snapshot() const { return *m_snapshot; }
  /// The same as a value that does not change. Never null.
  const std::shared_ptr<const engine::ClusterSnapshot>& shared() const { return m_snapshot; }
  LinkState link() const { return m_link; }
  /// One line about the link: the endpoint, or why it was refused.
  const QString& linkDetail() const { return m_linkDetail; }
  /// When the cluster was stopped, and by whom; nothing unless link() is Stopped.
  std::optional<ClusterStop> stopped() const;
  /// The name of this panel's key, if the cluster lets it only look.
  const QString& viewerKey() const { return m_viewerKey; }
  /// Messages of the cluster that could not be read, since the panel connected to it.
  std::int64_t numMalformed() const { return m_numMalformed; }
  /// Seconds since the newest snapshot arrived; nothing before the first.
  std::optional<double> ageSeconds() const;
  /// Whether the connection is up, but the cluster has published nothing for kSilentSeconds.
  bool isSilent() const;

  /// Returns why changes are not recorded now, as one clause without a full stop; empty if they
  /// are. A reason of the cluster takes precedence over one of this panel's copy.
  QString recordProblem() const;

  /// Whether a history file is shown instead of a cluster. The link then counts as connected.
  bool isFile() const { return !m_file.isEmpty(); }
  const QString& file() const { return m_file; }

  /// Returns the shown job: the selected one, else the first running one, else the first one; null
  /// if there are none.
  const engine::JobStatus* job() const;
  /// Selects the job to show, as long as the cluster has it.
  void chooseJob(const std::string& name);
  const engine::JobStatus* findJob(const std::string& name) const;
  /// The device of the job whose rank is slower than its peers, the slowest one; else nullptr.
  const engine::DeviceStatus* slowestDevice() const;
  /// Returns null for an unknown device.
  const engine::DeviceStatus* findDevice(ptc::DeviceId device) const;
  const engine::NodeStatus* findNode(std::int32_t node) const;
  /// Returns the running transaction, or null.
  const engine::TxnStatus* runningTxn() const;

 public slots:
  /// Keeps `snapshot` itself, unless a text in it is too long.
  /// \pre not null
  void setSnapshot(std::shared_ptr<const tessera::engine::ClusterSnapshot> snapshot);
  void setSnapshot(tessera::engine::ClusterSnapshot snapshot);
  void setLink(tessera::ui::LinkState state, const QString& detail);
  /// A user has stopped the cluster; the link becomes Stopped.
  void setStopped(const tessera::ui::ClusterStop& stop);
  void setViewerKey(const QString& name);
  /// The cluster has sent this many messages that could not be read.
  void setMalformed(std::int64_t count);
  void setRecordProblem(const QString& problem);
  void addEvent(tessera::engine::Event event);
  void addSample(tessera::engine::Sample sample);
  /// Clears everything, before another cluster or the history file `file` is shown.
  void clear(const QString& file = {});
  /// The cluster was started anew under its name: clears what is known of the one before. The link
  /// stays.
  void startAnew();
  /// Emits pending notifications now.
  void flush();

 signals:
  /// The snapshot or the link changed.
  void changed();
  /// All previous data belong to another cluster, or to an earlier start of this one; `changed`
  /// follows. Whoever keeps anything of the cluster forgets it now.
  void cleared();
  /// The same, after `cleared`, if it is an earlier start of this cluster.
  void startedAnew();
  /// Events since the last notification, oldest first.
  void eventsAdded(const std::vector<tessera::engine::Event>& events);
  /// Samples of all jobs since the last notification, in order of arrival.
  void samplesAdded(const std::vector<tessera::engine::Sample>& samples);

 private:
  void schedule();
  void forget();

  std::shared_ptr<const engine::ClusterSnapshot> m_snapshot =
      std::make_shared<const engine::ClusterSnapshot>();
  bool m_hasSnapshot = false;
  LinkState m_link = LinkState::None;
  QString m_linkDetail;
  ClusterStop m_stop;  // while the link is Stopped
  QString m_viewerKey;
  std::int64_t m_numMalformed = 0;
  QString m_recordProblem;  // of this panel's copy
  QString m_file;
  std::string m_chosenJob;
  QElapsedTimer m_sinceSnapshot;
  QElapsedTimer m_sinceConnected;
  QElapsedTimer m_sinceFlush;
  std::vector<engine::Event> m_newEvents;
  std::vector<engine::Sample> m_newSamples;
  bool m_dirty = false;
  QTimer m_timer;
};

}  // namespace tessera::ui

Q_DECLARE_METATYPE(tessera::engine::ClusterSnapshot)
Q_DECLARE_METATYPE(tessera::engine::Event)
Q_DECLARE_METATYPE(tessera::engine::Sample)
