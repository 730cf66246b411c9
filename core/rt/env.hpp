// The outside world of one process, as interfaces: all that core knows of threads, clocks, sockets
// and files. The simulator and production each have their own.
#pragma once

namespace morula {

class Clock;
class Compute;
class Domain;
class Network;
class Platform;
class Random;
class Store;
class Trace;

/// References to what the process was started with; they outlive everything that holds an Env.
struct Env {
  Domain& domain;
  Clock& clock;
  Network& network;
  Store& store;
  Random& random;
  Compute& compute;
  Platform& platform;
  Trace& trace;
};

}  // namespace morula
