function verify(string $secret, array $headers, string $body): array {
    $key = base64_decode(str_replace('whsec_', '', $secret));
    $signed = "{$headers['webhook-id']}.{$headers['webhook-timestamp']}.$body";
    $good = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    $given = explode(' ', $headers['webhook-signature']);
    $fresh = abs(time() - (int) $headers['webhook-timestamp']) <= 300;
    if (!$fresh || !array_filter($given, fn ($one) => hash_equals($good, $one)))
        throw new Exception('not from the platform');
    return json_decode($body, true);
}
