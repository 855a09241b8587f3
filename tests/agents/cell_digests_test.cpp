// SPDX-License-Identifier: Apache-2.0
#include "agents/move/cell_digests.h"

#include <QTest>
#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "engine/model/gpt.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

ptc::Layout LayoutOf(const ptc::CollectionPtr& tensors, const char* mesh) {
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), tensors);
}

// One value per cell, equal for all of its holders.
std::vector<DeviceDigests> Reports(const std::vector<JobCell>& cells, CellSide side) {
  std::map<ptc::DeviceId, std::vector<std::uint64_t>> rows;
  std::uint64_t value = 1;
  for (const JobCell& cell : cells) {
    value = ptc::Mix(value);
    for (const auto device : side == CellSide::kHolders ? cell.holders : cell.needers) {
      rows[device].push_back(value);
    }
  }
  std::vector<DeviceDigests> out;
  for (auto& [device, digests] : rows) out.push_back({device, std::move(digests)});
  return out;
}

}  // namespace

class CellDigestsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_tensors = *engine::MakeCollection({.model = *engine::FindModel("gpt-mini")}, false);
  }

  void bothSidesGiveOneDigest() {
    const ptc::Layout from = LayoutOf(m_tensors, "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3");
    const ptc::Layout to = LayoutOf(m_tensors, "dp=1,tp=4,pp=1 on n0g2,n1g0,n1g1,n0g0");
    const auto cells = FindCells(from, to);
    const auto before = CombineDigests(from.collection(), cells, CellSide::kHolders,
                                       Reports(cells, CellSide::kHolders));
    const auto after = CombineDigests(from.collection(), cells, CellSide::kNeeders,
                                      Reports(cells, CellSide::kNeeders));
    QVERIFY(before && after);
    QCOMPARE(before->digest, after->digest);
    QCOMPARE(before->cells, after->cells);
  }

  // The digests of cells add up to that of the tensor, for every way of cutting it.
  void cellsAddUpToTheTensor() {
    std::mt19937_64 rng(test::Seed());
    const auto& tensors = m_tensors->tensors();
    const ptc::Layout whole = LayoutOf(m_tensors, "dp=1,tp=1,pp=1 on n0g0");
    const ptc::Layout cut = LayoutOf(m_tensors, "dp=2,tp=4,pp=1 on 2x4");
    std::vector<std::vector<std::byte>> data;
    for (const auto& spec : tensors) {
      std::vector<std::byte> bytes(
          static_cast<std::size_t>(*ptc::NumElements(spec.shape) * ptc::SizeBytes(spec.dtype)));
      for (auto& byte : bytes) byte = static_cast<std::byte>(rng());
      data.push_back(std::move(bytes));
    }
    std::vector<std::uint64_t> digests;
    for (const ptc::Layout& layout : {whole, cut}) {
      const auto cells = FindCells(layout, layout);
      std::map<ptc::DeviceId, std::vector<std::uint64_t>> rows;
      for (const JobCell& cell : cells) {
        const auto t = static_cast<std::size_t>(cell.tensor);
        const ptc::Box piece = *ptc::Box::Whole(tensors[t].shape);
        const auto digest =
            ptc::DigestBox(tensors[t].dtype, tensors[t].shape, piece, data[t].data(), cell.box);
        for (const auto device : cell.holders) rows[device].push_back(digest);
      }
      std::vector<DeviceDigests> reports;
      for (auto& [device, row] : rows) reports.push_back({device, std::move(row)});
      const auto combined = CombineDigests(layout.collection(), cells, CellSide::kHolders, reports);
      QVERIFY(combined);
      digests.push_back(combined->digest);
    }
    QCOMPARE(digests[0], digests[1]);
  }

  void aReplicaThatDiffersIsNamed() {
    const ptc::Layout layout = LayoutOf(m_tensors, "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3");
    const auto cells = FindCells(layout, layout);
    auto reports = Reports(cells, CellSide::kHolders);
    reports.back().digests.front() ^= 1;
    const auto combined = CombineDigests(layout.collection(), cells, CellSide::kHolders, reports);
    QVERIFY(!combined);
    QCOMPARE(combined.error().code, ErrorCode::kDataLoss);
    const auto& name = m_tensors->tensors()[static_cast<std::size_t>(cells.front().tensor)].name;
    QVERIFY2(combined.error().message.find(name) != std::string::npos,
             combined.error().message.c_str());
    QVERIFY(combined.error().message.find("n0g3") != std::string::npos);
  }

  void aReportOfTheWrongLengthIsRefused() {
    const ptc::Layout layout = LayoutOf(m_tensors, "dp=2,tp=1,pp=1 on n0g0,n0g1");
    const auto cells = FindCells(layout, layout);
    auto reports = Reports(cells, CellSide::kHolders);
    reports[1].digests.pop_back();
    QVERIFY(!CombineDigests(layout.collection(), cells, CellSide::kHolders, reports));
    reports = Reports(cells, CellSide::kHolders);
    reports[0].digests.push_back(7);
    QVERIFY(!CombineDigests(layout.collection(), cells, CellSide::kHolders, reports));
    reports.clear();
    QVERIFY(!CombineDigests(layout.collection(), cells, CellSide::kHolders, reports));
  }

 private:
  ptc::CollectionPtr m_tensors;
};

TESSERA_TEST_APPLESS(CellDigestsTest)
#include "cell_digests_test.moc"
