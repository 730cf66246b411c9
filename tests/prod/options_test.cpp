#include "prod/options.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/base/ids.hpp"
#include "prod/open_store.hpp"
#include "prod/serve_address.hpp"

namespace morula {
namespace {

const Option& row(const std::vector<Option>& table, std::string_view name) {
  for (const Option& option : table) {
    if (option.name == name) return option;
  }
  throw std::runtime_error("no such option");
}

TEST(Options, TableNamesEachOptionOnceAndExplainsIt) {
  ServeOptions options;
  std::set<std::string_view> names;
  for (const Option& option : option_table(options)) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_GE(option.help.size(), 10u) << option.name;
    EXPECT_FALSE(option.group.empty());
  }
}

TEST(Options, DefaultIsReadBackAsItIsShown) {
  ServeOptions options;
  for (const Option& option : option_table(options)) {
    const std::string shown = option.shown();
    EXPECT_TRUE(option.set(shown)) << option.name;
    EXPECT_EQ(option.shown(), shown) << option.name;
  }
}

TEST(Options, SetWhatTheyName) {
  ServeOptions options;
  const auto table = option_table(options);
  EXPECT_TRUE(row(table, "lease").set("90s"));
  EXPECT_TRUE(row(table, "append-bytes-max").set("64KiB"));
  EXPECT_TRUE(row(table, "no-auth").set("true"));
  EXPECT_TRUE(row(table, "log-format").set("json"));
  EXPECT_TRUE(row(table, "window").set("4"));
  EXPECT_TRUE(row(table, "store").set("file:/x"));
  EXPECT_EQ(options.instance.lease.lease, std::chrono::seconds(90));
  EXPECT_EQ(options.instance.stream.append_bytes_max, 64 * kKiB);
  EXPECT_TRUE(options.no_auth);
  EXPECT_EQ(options.log_format, LogFormat::kJson);
  EXPECT_EQ(options.instance.log.window, 4u);
  EXPECT_EQ(options.store.location, "file:/x");
}

TEST(Options, NumberThatMayBeLeftToTheProgramIsNothingOrANumber) {
  ServeOptions options;
  const auto table = option_table(options);
  EXPECT_EQ(row(table, "puts-per-second").shown(), "auto");
  EXPECT_TRUE(row(table, "puts-per-second").set("0"));
  EXPECT_EQ(options.puts_per_second, 0u);
  EXPECT_EQ(row(table, "puts-per-second").shown(), "0");
  EXPECT_TRUE(row(table, "puts-per-second").set("auto"));
  EXPECT_FALSE(options.puts_per_second);
  const auto wrong = row(table, "puts-per-second").set("few");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("or auto"), std::string::npos) << wrong.error().message;
}

TEST(Options, WrongValuesAreRefusedWithWhatIsAllowed) {
  ServeOptions options;
  const auto table = option_table(options);
  const std::pair<const char*, const char*> kCases[] = {
      {"lease", "12"},          {"lease", "-1s"},          {"lease", "1.5s"},
      {"lease", "s"},           {"lease", "99999999999h"}, {"append-bytes-max", "4MB"},
      {"append-bytes-max", ""}, {"window", "x"},           {"window", "8s"},
      {"no-auth", "perhaps"},   {"log-level", "loud"},     {"log-format", "xml"},
      {"pipelined-max", "0"},   {"connections-max", "0"},  {"requests-max", "0"},
      {"window", "0"},          {"append-bytes-max", "0"}, {"append-bytes-max", "17MiB"},
  };
  for (const auto& [name, value] : kCases) {
    const auto set = row(table, name).set(value);
    ASSERT_FALSE(set) << name << " " << value;
    EXPECT_TRUE(set.error().message.starts_with(name)) << set.error().message;
  }
  EXPECT_EQ(options.instance.lease.lease, LeaseConfig().lease);
}

TEST(Options, FileIsReadLineByLine) {
  ServeOptions options;
  const auto table = option_table(options);
  EXPECT_TRUE(
      apply_config_text("# a cell\n\nlease = 5s\r\n  store=\"file:/a b\"  \nno-auth = yes", table));
  EXPECT_EQ(options.instance.lease.lease, std::chrono::seconds(5));
  EXPECT_EQ(options.store.location, "file:/a b");
  EXPECT_TRUE(options.no_auth);
  for (const char* text : {"\nlease 5s", "\nlaese = 5s", "\nlease = soon"}) {
    const auto applied = apply_config_text(text, table);
    ASSERT_FALSE(applied);
    EXPECT_TRUE(applied.error().message.starts_with("line 2: ")) << applied.error().message;
  }
}

TEST(Options, EnvironmentIsLookedUpByName) {
  ServeOptions options;
  const auto table = option_table(options);
  EXPECT_EQ(row(table, "lease-alone").environment_name(), "MORULA_LEASE_ALONE");
  EXPECT_TRUE(apply_environment(
      [](const char* name) -> const char* {
        return std::string_view(name) == "MORULA_LEASE_ALONE" ? "7s" : nullptr;
      },
      table));
  EXPECT_EQ(options.instance.lease.lease_alone, std::chrono::seconds(7));
  const auto wrong = apply_environment(
      [](const char* name) -> const char* {
        return std::string_view(name) == "MORULA_WINDOW" ? "many" : nullptr;
      },
      table);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().message.starts_with("MORULA_WINDOW")) << wrong.error().message;
}

TEST(ServeAddress, ListenAddressIsAnAddressAndAPort) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:4437")->url(), "http://127.0.0.1:4437");
  EXPECT_EQ(parse_listen_address("localhost:0")->host, "127.0.0.1");
  EXPECT_EQ(parse_listen_address("[::1]:80")->url(), "http://[::1]:80");
  EXPECT_TRUE(parse_listen_address("127.9.9.9:1")->is_loopback());
  EXPECT_TRUE(parse_listen_address("[::1]:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("0.0.0.0:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("[::]:1")->is_loopback());
  for (const char* wrong : {"", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000",
                            "::1:80", "example.org:80", "[127.0.0.1:80"}) {
    EXPECT_FALSE(parse_listen_address(wrong)) << wrong;
  }
}

TEST(ServeAddress, AdvertisedAddressHasNothingAfterThePort) {
  EXPECT_TRUE(check_instance_url("--advertise", "http://10.0.0.7:4437"));
  EXPECT_TRUE(check_instance_url("--advertise", "http://[fd00::7]:4437"));
  EXPECT_TRUE(check_instance_url("--advertise", "http://node-1.cell.internal:80"));
  for (const char* wrong : {"", "10.0.0.7:4437", "http://10.0.0.7", "http://:80", "http://h:80/",
                            "http://h:0", "https://h:80", "http://h:80?x"}) {
    EXPECT_FALSE(check_instance_url("--advertise", wrong)) << wrong;
  }
}

TEST(ServeAddress, DefaultNameIsAlwaysValid) {
  for (const std::string& host :
       {std::string("node-1.example.org"), std::string("UPPER_Case"), std::string(""),
        std::string(200, 'x'), std::string("\xc3\xa4"), std::string(".")}) {
    EXPECT_TRUE(is_valid_instance_name(default_instance_name(host, 65535))) << host;
  }
  EXPECT_EQ(default_instance_name("Node_1.example.org", 80), "node-1-80");
}

TEST(ServeAddress, StoreIsADirectory) {
  EXPECT_EQ(*parse_store_directory("file:data"), "data");
  EXPECT_EQ(*parse_store_directory("file:/srv/x"), "/srv/x");
  EXPECT_EQ(*parse_store_directory("file:///srv/x"), "/srv/x");
  for (const char* wrong : {"", "file:", "file://", "data", "s3://bucket/x"}) {
    EXPECT_FALSE(parse_store_directory(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace morula
