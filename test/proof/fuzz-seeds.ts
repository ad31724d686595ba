// What the generators of the fuzzers begin with: good examples of everything that strangers send.

const token = 'a'.repeat(43)

export const cookies = [
  `auth_token=${token}; stowage_device=${token}`,
  `auth_token=${token}; Path=/; HttpOnly; SameSite=Strict, auth_token="${token}"`,
  'a=b; c; =d; auth_token=',
]
export const authorizations = ['Basic YW5uYTpHb29kLVBhc3N3b3JkLTEy', 'basic  w6Q6w7Y=', 'Bearer abc.def.ghi']
export const languages = ['sv-SE,sv;q=0.9,en;q=0.8,*;q=0.1', 'en', 'de-DE-1996;q=0.333 , *']
export const accepts = [
  'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
  'application/rdf+xml',
  'text/turtle;q=1.0, */*',
]
export const ranges = ['bytes=0-99', 'bytes=-5', 'bytes=10-', 'bytes=0-1,5-6', 'items=1-2']
export const conditions = [
  '"abc"',
  'W/"abc", "def"',
  '*',
  'Sat, 21 Nov 2026 10:00:00 GMT',
  'Saturday, 21-Nov-26 10:00:00 GMT',
]
export const forwarded = [
  'for=192.0.2.1;proto=https;by=10.0.0.2, for="[2001:db8::1]:4711"',
  '192.0.2.1, 10.0.0.7, [fd00::1]:80',
  'for=unknown, for=_hidden, for="10.0.0.1:80"',
]
export const dispositions = [
  'attachment; filename="a b.txt"; filename*=UTF-8\'\'%e2%82%ac.txt',
  'inline; filename=a.png',
  'form-data; name="file"; filename="\\"x\\""',
]
export const types = ['text/plain; charset=utf-8', 'multipart/form-data; boundary=xXboundaryXx', 'application/json']
export const origins = ['https://app.example', 'null', 'https://app.example:8443']
export const queries = [
  'a=b&c=d%20e&f',
  'graphtype=string&id=x',
  'type=solr&query=title%3Aa*&limit=5&offset=0&sort=title+asc',
  'ignoreAuth&callback=f',
]
export const forms = ['auth_username=anna&auth_password=Good-Password-12&auth_maxage=60', 'email=a%40b.example&token=x']
export const targets = ['https://app.example/a?b=c#d', 'https://store.example:443/', 'https://app.example./']
export const searches = [
  'title:donald AND NOT graphType:List',
  '(metadata.predicate.literal_s.abc12345:"a b" OR title.sv:x*) AND public:true',
  'created:[2026-01-01T00:00:00Z TO *] AND -title:a?b\\:c^2',
  'uri:"http\\:\\/\\/a.example\\/b"|title:(a OR b)',
]
export const sizes = ['10k', '5G', '-1', '1024', '9007199254740991']
export const durations = ['5m', '300000', '10ns', '7D', '1h']
export const properties = [
  'service.http.port = 8080\nservice.data.quota=on\n# comment\nservice.data.quota.default: 10g\n',
  'service.auth.saml.idps.1 = a\\\n   b\nservice.auth.saml.idp.a.domains.1 = a.example\n! note\nx\\ y = \\u00e5\n',
  'service.cors=on\nservice.cors.origins.1=https://app.example\nservice.auth.password.custom.1 = ^(a+)+$\n',
]
export const jsons = [
  '{"resource":{"name":"anna","password":"Good-Password-12"},"metadata":{"_:b":{"http://purl.org/dc/terms/title":[{"type":"literal","value":"a","lang":"sv"}]}}}',
  '{"quota":100,"alias":"x"}',
  '{"token":"abc","scope":"others"}',
  '["1","2",{"a":[null,true,1.5e3]}]',
  '{"http://a.example/1":{"http://entrystore.org/terms/write":[{"type":"uri","value":"http://a.example/_principals/resource/_guest"}]}}',
]
const triple = '<http://a.example/1> <http://purl.org/dc/terms/title>'
export const graphs: Readonly<Record<string, readonly string[]>> = {
  json: [
    '{"http://a.example/1":{"http://purl.org/dc/terms/title":[{"type":"literal","value":"a","lang":"sv"},{"type":"uri","value":"http://b"},{"type":"bnode","value":"_:x"}]}}',
  ],
  ttl: [
    `@prefix dct: <http://purl.org/dc/terms/> .\n@base <http://a.example/> .\n<1> dct:title "a"@sv, """b\nc"""^^<urn:x> ; dct:part [ a dct:X ; dct:y (1 2.5 1e3 true) ] .\n_:b dct:z <#å> .`,
  ],
  jsonld: [
    '{"@context":{"dct":"http://purl.org/dc/terms/","t":{"@id":"dct:title","@container":"@language"}},"@id":"http://a.example/1","t":{"sv":"a"},"dct:part":{"@list":[1,{"@value":"x","@type":"urn:y"}]},"@graph":[]}',
  ],
  rdf: [
    '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/terms/"><rdf:Description rdf:about="http://a.example/1"><d:title xml:lang="sv">a&amp;b</d:title><d:part rdf:parseType="Resource"><d:x rdf:resource="#y"/></d:part><d:l rdf:parseType="Collection"><d:X/></d:l></rdf:Description></rdf:RDF>',
  ],
  nt: [`${triple} "a\\u00e5"@sv-se .\n_:b <urn:p> "1"^^<urn:int> .\n`],
  n3: [`@prefix : <urn:> .\n${triple} "a" .\n{ :a :b :c } => { :d = :e } .\n:x :p ?y .`],
  trig: [`@prefix : <urn:> .\n:g { ${triple} "a" }\nGRAPH <urn:h> { :a :b _:c . }`],
  trix: [
    '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><uri>urn:g</uri><triple><uri>urn:a</uri><uri>urn:b</uri><plainLiteral xml:lang="sv">x</plainLiteral></triple><triple><id>b</id><uri>urn:p</uri><typedLiteral datatype="urn:t">1</typedLiteral></triple></graph></TriX>',
  ],
}
export const casReplies = [
  'yes\nanna\n',
  'no\n\n',
  '<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Body><Response xmlns="urn:oasis:names:tc:SAML:1.0:protocol" IssueInstant="2026-11-21T10:00:00Z" MajorVersion="1" MinorVersion="1" Recipient="https://store.example/auth/cas"><Status><StatusCode Value="Success"/></Status><Assertion xmlns="urn:oasis:names:tc:SAML:1.0:assertion" AssertionID="_a"><Conditions NotBefore="2026-11-21T09:59:00Z" NotOnOrAfter="2026-11-21T10:01:00Z"><AudienceRestrictionCondition><Audience>https://store.example/auth/cas</Audience></AudienceRestrictionCondition></Conditions><AuthenticationStatement><Subject><NameIdentifier>anna</NameIdentifier></Subject></AuthenticationStatement></Assertion></Response></SOAP-ENV:Body></SOAP-ENV:Envelope>',
]
export const multiparts = [
  '--xXboundaryXx\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--xXboundaryXx\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--xXboundaryXx--\r\n',
  '--xXboundaryXx\r\nContent-Disposition: form-data; name="f"; filename*=UTF-8\'\'%c3%a5\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n--xXboundaryXx--\r\n',
]
