-- For wrk: looks the addresses of the file ADDR up, in an order without a pattern that begins at SEED. QUERY follows each.
local addresses = {}
for line in io.lines(os.getenv("ADDR")) do addresses[#addresses + 1] = line end
local at = tonumber(os.getenv("SEED"))
local query = os.getenv("QUERY") or ""
request = function()
  at = (at * 16807) % 2147483647 -- exact in a double
  return wrk.format("GET", "/api/sdk/kyc/status/" .. addresses[at % #addresses + 1] .. query)
end
