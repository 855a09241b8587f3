// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The details of the selected file: description, location of its bytes, and paths to copy.

#include <optional>
#include <set>

#include "ui/canvas/device_looks.h"
#include "ui/models/file_facts.h"
#include "ui/models/placement_table_model.h"
#include "ui/widgets/surface.h"

class QLabel;
class QTableView;

namespace tessera::ui {

class CopyLine;
class KeyValues;
class PlacementStrip;

class FileDetails : public Surface {
  Q_OBJECT

 public:
  explicit FileDetails(QWidget* parent = nullptr);
  void setFacts(FileFacts facts);
  const FileFacts& facts() const { return m_facts; }
  /// Sets the folder on which the cluster is mounted on this machine, if any.
  void setMountPoint(std::optional<QString> folder);
  /// Returns the path of the selected file, including the mount point if there is one.
  QString path() const;
  QString pythonLine() const;
  void setLooks(const DeviceLooks& looks);
  void setSelection(const std::set<ptc::DeviceId>& devices);
  void setIsHere(PlacementTableModel::IsHere isHere);
  void setStale(bool stale);
  PlacementStrip* strip() const { return m_strip; }
  QTableView* table() const { return m_table; }
  CopyLine* pathLine() const { return m_path; }
  CopyLine* pythonCopy() const { return m_python; }
  /// "and 24,320 more ranges"; empty if the table has all.
  QString moreText() const;

 signals:
  void devicesChosen(const std::set<tessera::ptc::DeviceId>& devices);
  /// Reports a completed action as one sentence.
  void said(const QString& text);

 private:
  void buildTable();
  void fitTable();

  FileFacts m_facts;
  std::optional<QString> m_mount;
  PlacementTableModel m_rows;
  QLabel *m_title, *m_summary, *m_placed, *m_placement, *m_more;
  CopyLine *m_path, *m_python;
  KeyValues* m_values;
  PlacementStrip* m_strip;
  QTableView* m_table;
};

}  // namespace tessera::ui
