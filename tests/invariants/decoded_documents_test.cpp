#include "invariants/decoded_documents.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace morula::invariants {
namespace {

std::string manifest_body(uint64_t version) {
  Manifest manifest;
  manifest.version = Version(version);
  manifest.writer = IncarnationId{"a", Ulid{1, 1}};
  return encode_manifest(manifest);
}

TEST(DecodedDocuments, ABodyIsDecodedOnce) {
  DecodedDocuments documents;
  const std::string one = manifest_body(1);
  const auto first = documents.manifest(one);
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)->version, Version(1));
  EXPECT_EQ(*documents.manifest(std::string(one)), *first);
  EXPECT_NE(*documents.manifest(manifest_body(2)), *first);

  Topology topology;
  topology.writer = IncarnationId{"a", Ulid{1, 1}};
  topology.shards.push_back({Prefix(), Epoch(1), topology.writer, "m", {topology.writer}});
  const std::string body = encode_topology(topology);
  const auto read = documents.topology(body);
  ASSERT_TRUE(read);
  EXPECT_EQ(*documents.topology(body), *read);
}

TEST(DecodedDocuments, DamageIsAnErrorEachTime) {
  DecodedDocuments documents;
  std::string damaged = manifest_body(1);
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_FALSE(documents.manifest(damaged));
  EXPECT_FALSE(documents.manifest(damaged));
  EXPECT_FALSE(documents.manifest(""));
  EXPECT_FALSE(documents.topology("{}"));
  EXPECT_TRUE(documents.manifest(manifest_body(1)));
}

TEST(DecodedDocuments, ForgetsWhatNobodyHoldsAndNothingElse) {
  DecodedDocuments documents;
  const auto held = *documents.manifest(manifest_body(0));
  std::weak_ptr<const Manifest> dropped = *documents.manifest(manifest_body(1));
  for (uint64_t version = 2; version < 200; ++version) {
    ASSERT_TRUE(documents.manifest(manifest_body(version)));
  }
  EXPECT_TRUE(dropped.expired());
  EXPECT_EQ(*documents.manifest(manifest_body(0)), held);
}

}  // namespace
}  // namespace morula::invariants
