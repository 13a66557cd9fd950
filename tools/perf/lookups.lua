-- Script for wrk: looks up the addresses listed in the file ADDR, in a pseudo-random order that starts at SEED. QUERY is appended to each path.
local addresses = {}
for line in io.lines(os.getenv("ADDR")) do addresses[#addresses + 1] = line end
local at = tonumber(os.getenv("SEED"))
local query = os.getenv("QUERY") or ""
request = function()
  at = (at * 16807) % 2147483647 -- the product is below 2^53, so a double holds it exactly
  return wrk.format("GET", "/api/sdk/kyc/status/" .. addresses[at % #addresses + 1] .. query)
end
