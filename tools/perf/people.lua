-- For wrk: asks about the people of the file ADDR, in an order without a pattern that begins at SEED: each
-- load asks about others.
local people = {}
for line in io.lines(os.getenv("ADDR")) do people[#people + 1] = line end
local at = tonumber(os.getenv("SEED"))
request = function()
  at = (at * 16807) % 2147483647 -- exact in a double
  return wrk.format("GET", "/api/sdk/kyc/status/" .. people[at % #people + 1])
end
