// The table of options: the one place where they are named and explained.
#include "prod/options.hpp"

namespace morula {
namespace {

using Table = std::vector<Option>;
using Bytes = Option::ByteCount;
using AutoBytes = Option::AutoByteCount;

constexpr auto kMain = "Where and who";
// With none of it nothing would go on.
constexpr Option::Range kSome{.least = 1};

Table main_options(ServeOptions& o) {
  return {
      {"listen", kMain, &o.listen,
       "Address and port to serve. Without tokens only loopback; port 0 takes a free one"},
      {"name", kMain, &o.name,
       "This instance's name, unique among the running ones, stable over restarts: 1 to 63 of a-z, "
       "0-9, -. Default: host name and port"},
      {"advertise", kMain, &o.advertise,
       "Where the cell's other instances reach this one, http://host:port. Default: --listen"},
      {"no-auth", kMain, &o.no_auth,
       "Serve without tokens, on loopback only. This version has no tokens: it says what is so"},
  };
}

Table log_options(ServeOptions& o) {
  InstanceConfig& cell = o.instance;
  constexpr auto kLog = "Commit: how appends become durable";
  return {
      {"flush-interval", kLog, &cell.log.flush_interval,
       "Appends wait at most so long for company while another batch is on its way"},
      {"puts-at-once", kLog, &cell.log.puts_at_once,
       "Appends wait for company only while so many batches are on their way"},
      {"batch-bytes", kLog, Bytes{&cell.log.batch_bytes_max},
       "A batch of this size is written at once"},
      {"puts-per-second", kLog, &o.puts_per_second,
       "Budget of log writes that are not full batches, for stores that charge by the request; 0: "
       "no "
       "limit; auto: 10 on S3, no limit on a directory"},
      {"puts-burst", kLog, &cell.log.puts_burst, "What a quiet time saves up of that budget"},
      {"queued-bytes", kLog, Bytes{&cell.log.queued_bytes_max},
       "Appends wait while so much is not yet sent to the store"},
      {"stall-after", kLog, &cell.log.stall_after,
       "When the store takes no log writes for so long (a full disk), waiting requests are "
       "answered "
       "503 and new ones refused until it does again"},
      {"window",
       kLog,
       &cell.log.window,
       "Batches on their way at once. Counts only for whoever creates the cell",
       {},
       kSome},
      {"store-timeout", kLog, &cell.retry.attempt_timeout,
       "A request to the store is repeated when it takes longer"},
  };
}

Table lease_options(LeaseConfig& lease) {
  constexpr auto kLease = "Lease: how soon another instance takes over";
  return {
      {"heartbeat", kLease, &lease.heartbeat,
       "The lease is renewed so often while other instances live"},
      {"lease", kLease, &lease.lease,
       "A stalled instance is replaced after its lease and a margin; a dead one on the same "
       "machine "
       "at once"},
      {"heartbeat-alone", kLease, &lease.heartbeat_alone,
       "As --heartbeat while there is no other instance"},
      {"lease-alone", kLease, &lease.lease_alone, "As --lease while there is no other instance"},
      {"lease-margin-permille", kLease, &lease.margin_permille,
       "Of the lease, for clocks that run at different rates: 50 is good for 10 %"},
      {"watch-interval", kLease, &lease.watch_interval,
       "How often an instance looks whether the owners live"},
  };
}

Table memory_options(ServeOptions& o) {
  InstanceConfig& cell = o.instance;
  constexpr auto kMemory = "Memory and flushing";
  return {
      {"flush-bytes", kMemory, Bytes{&cell.shard.unflushed_bytes_max},
       "A shard writes its tables when so much is only in the log"},
      {"flush-objects", kMemory, &o.flush_objects,
       "Or when it keeps so many log objects from being deleted; auto: 500 on S3, 4000 on a "
       "directory"},
      {"memory-mb", kMemory, &o.memory_mb,
       "What the process may take, in MiB: caches, memtables, requests and their answers. What "
       "would "
       "go beyond it is answered 503 with Retry-After before it is read. auto: 70 % of what its "
       "container or the machine has. In the environment also ADMIT_RSS_SHED_MB",
       "ADMIT_RSS_SHED_MB"},
      {"memtable-bytes", kMemory, AutoBytes{&o.memtable_bytes},
       "Of that, for rows of all shards that are only in the log: from a half on the largest shard "
       "is flushed, and appends are slowed down, the more the less is left. auto: 64MiB or an "
       "eighth"},
      {"block-cache-bytes", kMemory, AutoBytes{&o.block_cache_bytes},
       "Of that, for blocks of tables, kept for reads. auto: 64MiB or an eighth"},
      {"disk-cache", kMemory, &o.disk_cache,
       "DIR:SIZE, such as /var/cache/morula:4GiB. Blocks of tables kept on a local disk, too, so "
       "that cold reads cost no requests to the store. A directory of its own, safe to lose. "
       "Default: none"},
      {"cached-streams", kMemory, &cell.stream.cached_streams_max,
       "Streams whose state is kept in memory; others are read again"},
      {"trim-interval", kMemory, &cell.trim_interval, "Log objects are deleted at most so often"},
      {"collect-interval", kMemory, &cell.collect_interval,
       "What nobody names any more is deleted at most so often"},
      {"compute-threads", kMemory, &o.compute_threads, "Threads for building and checking tables"},
  };
}

Table request_limit_options(InstanceConfig& cell) {
  constexpr auto kLimits = "Limits of requests";
  return {
      {"append-bytes-max",
       kLimits,
       Bytes{&cell.stream.append_bytes_max},
       "Largest body of one append, at most 16MiB; beyond it 413",
       {},
       {.least = 1, .most = kAppendBytesMost}},
      {"read-bytes-max", kLimits, Bytes{&cell.stream.read_bytes_max},
       "Most that one read returns; the reader goes on at the next offset"},
      {"forward-timeout", kLimits, &cell.forward_timeout,
       "Of a request that is passed on to the owner, all attempts together"},
      {"stop-grace", kLimits, &cell.stop_grace,
       "For requests under way when the instance is told to stop"},
  };
}

Table client_options(HttpServerConfig& http) {
  constexpr auto kClients = "Clients and connections";
  return {
      {"connections-max", kClients, &http.connections_max, "Beyond it 503", {}, kSome},
      {"requests-max", kClients, &http.requests_max, "Under way at once; beyond it 503", {}, kSome},
      {"pipelined-max",
       kClients,
       &http.pipelined_max,
       "Under way at once of one connection",
       {},
       kSome},
      {"idle-timeout", kClients, &http.idle_timeout, "Between two requests of a connection"},
      {"head-timeout", kClients, &http.head_timeout, "For a request's head to arrive"},
      {"body-timeout", kClients, &http.body_timeout,
       "For its body to arrive, plus a second for each 32 KiB"},
      {"write-timeout", kClients, &http.write_timeout, "For a client to take a byte of an answer"},
  };
}

Table logging_options(ServeOptions& o) {
  constexpr auto kLogs = "Logs and figures";
  return {
      {"log-level", kLogs, &o.log_level, "Least level to log: debug, info, warning or error"},
      {"log-format", kLogs, &o.log_format, "logfmt or json, one line per event, on stderr"},
      {"profile", kLogs, &o.profile,
       "At the end and on SIGUSR1, print how writes used their round trips, and whether batching "
       "could help. GET /metrics always has all counts"},
  };
}

}  // namespace

std::vector<Option> store_option_table(StoreOptions& options) {
  constexpr auto kS3 =
      "A store that speaks S3 (credentials: environment, web identity, profile, container, "
      "instance, as AWS's tools find them)";
  return {
      {"store", kMain, &options.location,
       "The cell's storage, shared by all its instances: file:DIR, a directory on a local disk, or "
       "s3://BUCKET/PREFIX"},
      {"s3-endpoint", kS3, &options.s3.endpoint,
       "URL of a store that speaks S3, https://host:port. Default: AWS_ENDPOINT_URL_S3, "
       "AWS_ENDPOINT_URL, the profile's, or AWS itself"},
      {"s3-region", kS3, &options.s3.region,
       "The bucket's region. Default: AWS_REGION, AWS_DEFAULT_REGION or the profile's"},
      {"s3-addressing", kS3, &options.s3.addressing,
       "Where requests name the bucket: path, virtual-host (bucket.host), or auto, which is "
       "virtual-host at AWS and path elsewhere"},
      {"s3-ca-file", kS3, &options.s3.ca_file,
       "Certificates to trust besides the system's, PEM. Default: AWS_CA_BUNDLE"},
  };
}

std::vector<Option> option_table(ServeOptions& options) {
  Table table = store_option_table(options.store);
  for (Table part :
       {main_options(options), log_options(options), lease_options(options.instance.lease),
        memory_options(options), request_limit_options(options.instance),
        client_options(options.http), logging_options(options)}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

}  // namespace morula
