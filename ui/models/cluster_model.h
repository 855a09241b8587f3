// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The cluster as the panel last heard of it: snapshot, link, events, samples. One timer turns any
/// number of updates into at most 30 notifications a second.

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// None: no cluster is named.
enum class LinkState { None, Connecting, Connected, Lost, Refused };

/// Lives on the GUI thread; other threads reach its slots by queued invocation.
class ClusterModel : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMaxNotificationsPerSecond = 30;

  explicit ClusterModel(QObject* parent = nullptr);

  bool hasSnapshot() const { return m_hasSnapshot; }
  /// The newest snapshot; an empty one before the first.
  const engine::ClusterSnapshot& snapshot() const { return m_snapshot; }
  LinkState link() const { return m_link; }
  /// One line on the link: the endpoint, or why it is refused.
  const QString& linkDetail() const { return m_linkDetail; }
  /// Seconds since the newest snapshot arrived; nothing before the first.
  std::optional<double> ageSeconds() const;

  /// Why what happens is not recorded now, one clause without a full stop; empty while it is.
  /// The cluster's own reason comes before that of this panel's copy.
  QString recordProblem() const;

  /// A history file is shown instead of a cluster; the link then counts as connected.
  bool isFile() const { return !m_file.isEmpty(); }
  const QString& file() const { return m_file; }

  /// The job that the panel shows: the chosen one, else the first that still runs, else the first;
  /// null without any.
  const engine::JobStatus* job() const;
  /// Shows this job as long as the cluster has it.
  void chooseJob(const std::string& name);
  const engine::JobStatus* findJob(const std::string& name) const;
  /// Null for a device that the cluster does not have.
  const engine::DeviceStatus* findDevice(ptc::DeviceId device) const;
  const engine::NodeStatus* findNode(std::int32_t node) const;
  /// The transaction while it runs, else null.
  const engine::TxnStatus* runningTxn() const;

 public slots:
  void setSnapshot(tessera::engine::ClusterSnapshot snapshot);
  void setLink(tessera::ui::LinkState state, const QString& detail);
  void setRecordProblem(const QString& problem);
  void addEvent(tessera::engine::Event event);
  void addSample(tessera::engine::Sample sample);
  /// Forgets everything: another cluster follows, or the history file `file`.
  void clear(const QString& file = {});
  /// Notifies now what waits for the timer.
  void flush();

 signals:
  /// Snapshot or link changed.
  void changed();
  /// All that was known is of another cluster; `changed` follows.
  void cleared();
  /// Events since the last notification, oldest first.
  void eventsAdded(const std::vector<tessera::engine::Event>& events);
  /// Samples of any job since the last notification, in the order in which they came.
  void samplesAdded(const std::vector<tessera::engine::Sample>& samples);

 private:
  void schedule();

  engine::ClusterSnapshot m_snapshot;
  bool m_hasSnapshot = false;
  LinkState m_link = LinkState::None;
  QString m_linkDetail;
  QString m_recordProblem;  // of this panel
  QString m_file;
  std::string m_chosenJob;
  QElapsedTimer m_sinceSnapshot;
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
