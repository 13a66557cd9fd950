-- For wrk: asks about the people of the file ADDR, in an order without a pattern.
local people = {}
for line in io.lines(os.getenv("ADDR")) do people[#people + 1] = line end
local at = 1
request = function()
  at = (at * 16807) % 2147483647 -- exact in a double
  return wrk.format("GET", "/api/sdk/kyc/status/" .. people[at % #people + 1])
end
