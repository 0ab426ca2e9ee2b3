#pragma once
#include "talus/base/comm.hpp"

/// All ranks of this test run.
const talus::Comm& world_comm();
