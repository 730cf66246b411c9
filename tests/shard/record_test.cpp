#include "core/shard/record.hpp"

#include <gtest/gtest.h>

#include "tests/base/damage.hpp"
#include "tests/lsm/changed_rows_of.hpp"

namespace morula {
namespace {

const StreamId kStream{1, 2};

std::vector<Row> sample() {
  const Generation generation(3);
  return {
      {Tree::kMeta, row_key::meta(kStream, generation, RowKind::kHot), ChangeNumber(4), false, "v"},
      {Tree::kMeta, row_key::meta(kStream, generation, RowKind::kProducer, "p"), ChangeNumber(4),
       true, ""},
      {Tree::kData, row_key::data(kStream, generation, Offset{5, 6}), ChangeNumber(300), false,
       std::string(200, 'x')},
  };
}

std::string record_of(const std::vector<Row>& rows) {
  std::string record;
  encode_record(kStream, changed_rows_of(rows), record);
  return record;
}

TEST(Record, IsReadBack) {
  const std::string record = record_of(sample());
  const auto read = decode_record(kStream, record);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Row written = sample()[i];
    EXPECT_EQ((*read)[i].tree, written.tree);
    EXPECT_EQ((*read)[i].key, written.key);
    EXPECT_EQ((*read)[i].change, written.change);
    EXPECT_EQ((*read)[i].deleted, written.deleted);
    EXPECT_EQ((*read)[i].value, written.value);
  }
}

TEST(Record, DamageIsRefusedOrHarmless) {
  with_damage(record_of(sample()), 20'000, [](const std::string& wrong) {
    const auto read = decode_record(kStream, wrong);
    if (read) {
      EXPECT_EQ(record_of(*read), wrong);
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    }
  });
}

}  // namespace
}  // namespace morula
