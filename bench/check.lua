-- The load of wrk: checks of 10,000 keys, half of them of one.
wrk.method = "POST"
wrk.path = "/v1/check"
wrk.headers["Content-Type"] = "application/json"
local n = 0
function request()
  n = n + 1
  local key = n % 2 == 0 and "hot" or "user:" .. (n * 7919) % 10000
  return wrk.format(nil, nil, nil, '{"policy":"default","key":"' .. key .. '"}')
end
