/** What the environment says. */
export interface Environment {
  /** `SERVICE_CONFIG`: path of the configuration file (D10.1). */
  readonly configFile: string | undefined
  /** `SERVICE_ADMIN_PASSWORD`: counts only when the store is first initialised; not yet checked (D5.5). */
  readonly adminPassword: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`: instead of `service.auth.token.key-file`, with the same content; not yet checked. */
  readonly tokenKey: string | undefined
  /** Where the S3 server is, and its region; its credentials are found by Amazon's client itself, as its tools do it. */
  readonly s3: { readonly endpoint: string | undefined; readonly region: string | undefined }
}

/** Amazon's client warns on standard error of every start with a Node version that it will not support for ever. */
export function silenceSdkWarnings(): void {
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'
}

/** The only place that looks at the environment. Empty variables count as absent. */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  return {
    configFile: variables['SERVICE_CONFIG'] || undefined,
    adminPassword: variables['SERVICE_ADMIN_PASSWORD'] || undefined,
    tokenKey: variables['SERVICE_AUTH_TOKEN_KEY'] || undefined,
    s3: {
      endpoint: variables['AWS_ENDPOINT_URL_S3'] || variables['AWS_ENDPOINT_URL'] || undefined,
      region: variables['AWS_REGION'] || undefined,
    },
  }
}
