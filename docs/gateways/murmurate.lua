-- Of the client's header, policies see these fields and no others: list what your keys,
-- tiers and conditions look at. No X-Plan: its plan is not the client's to say.
local passed = { "authorization", "cookie", "x-api-key" }
-- A request with more lines of them than that, or more bytes with its URL, gets a 431.
local most_lines, most_bytes = 32, 12288
-- While murmurate cannot be reached, or fails, requests pass; false: they get a 503.
local open = true

-- What the client is told of a denial.
local shown = {
    "ratelimit", "ratelimit-policy", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset",
    "retry-after", "content-type", "cache-control",
}

local function first(headers, name)
    for _, value in pairs(headers and headers[name] or {}) do
        return value
    end
    return nil
end

-- The head of the question, or nil if it would be too large: HAProxy does not
-- survive one of more than 100 lines.
local function question(txn)
    local headers = {
        ["x-forwarded-method"] = { txn.sf:method() },
        ["x-forwarded-uri"] = { txn.sf:url() },
        ["x-forwarded-host"] = { txn.sf:req_hdr("host") },
        ["x-forwarded-for"] = { txn.sf:src() },
    }
    local lines, bytes = 0, #txn.sf:url()
    for _, name in ipairs(passed) do
        local count = txn.f:req_fhdr_cnt(name)
        lines = lines + count
        if lines > most_lines then
            return nil
        end
        for i = 1, count do
            local value = txn.sf:req_fhdr(name, i)
            headers[name] = headers[name] or {}
            headers[name][i] = value
            bytes = bytes + #value
        end
    end
    return bytes <= most_bytes and headers or nil
end

-- The answer to the client, or nil: its request passes.
local function decide(txn)
    local headers = question(txn)
    if not headers then
        return txn:reply{ status = 431 }
    end
    local answer = core.httpclient():get{ url = "http://murmurate/gateway", dst = "abns@murmurate", headers = headers }
    if first(answer.headers, "cache-control") ~= "no-store" then -- it is not murmurate's
        local malformed = answer.status and answer.status >= 400 and answer.status < 500
        if malformed then
            return txn:reply{ status = 400 }
        end
        return not open and txn:reply{ status = 503 } or nil
    end
    if answer.status == 200 then
        txn:set_var("txn.ratelimit", first(answer.headers, "ratelimit") or "")
        txn:set_var("txn.ratelimit_policy", first(answer.headers, "ratelimit-policy") or "")
        return nil
    end
    local reply = txn:reply{ status = answer.status, body = answer.body }
    for _, name in ipairs(shown) do
        local value = first(answer.headers, name)
        if value then
            reply:add_header(name, value)
        end
    end
    return reply
end

core.register_action("murmurate", { "http-req" }, function(txn)
    local ran, reply = pcall(decide, txn) -- HAProxy lets pass what an action failed for
    if not ran then
        core.Alert("murmurate.lua: " .. tostring(reply))
        reply = txn:reply{ status = 500 }
    end
    if reply then
        txn:done(reply)
    end
end)
