local open = true -- no answer: requests pass; false: they get a 503

-- What belongs to the client's connection or its body is not passed on.
local dropped = {
    ["connection"] = true, ["content-length"] = true, ["expect"] = true, ["keep-alive"] = true,
    ["te"] = true, ["trailer"] = true, ["transfer-encoding"] = true, ["upgrade"] = true,
}
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

local function question(txn)
    local headers = {}
    for name, values in pairs(txn.http:req_get_headers()) do
        if not dropped[name] then
            headers[name] = values
        end
    end
    -- All four, or a client could write them itself.
    headers["x-forwarded-method"] = { txn.sf:method() }
    headers["x-forwarded-uri"] = { txn.sf:url() }
    headers["x-forwarded-host"] = { txn.sf:req_hdr("host") }
    headers["x-forwarded-for"] = { txn.sf:src() }
    return headers
end

core.register_action("murmurate", { "http-req" }, function(txn)
    local answer = core.httpclient():get{
        url = "http://murmurate/gateway", dst = "abns@murmurate", headers = question(txn),
    }
    if first(answer.headers, "cache-control") ~= "no-store" then -- it is not murmurate's
        if not open then
            txn:done(txn:reply{ status = 503 })
        end
        return
    end
    if answer.status == 200 then
        txn:set_var("txn.ratelimit", first(answer.headers, "ratelimit") or "")
        txn:set_var("txn.ratelimit_policy", first(answer.headers, "ratelimit-policy") or "")
        return
    end
    local reply = txn:reply{ status = answer.status, body = answer.body }
    for _, name in ipairs(shown) do
        local value = first(answer.headers, name)
        if value then
            reply:add_header(name, value)
        end
    end
    txn:done(reply)
end)
