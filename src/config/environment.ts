/** The environment variables of the service. */
export interface Environment {
  /** `SERVICE_CONFIG`: path of the configuration file (D10.1). */
  readonly configFile: string | undefined
  /** `SERVICE_ADMIN_PASSWORD`: used only while admin has no password; not yet checked (D5.5). */
  readonly adminPassword: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`: replaces `service.auth.token.key-file`, with the same content; not yet checked. */
  readonly tokenKey: string | undefined
  /** Address and region of the S3 server; Amazon's client reads the credentials itself, as Amazon's tools do. */
  readonly s3: { readonly endpoint: string | undefined; readonly region: string | undefined }
}

/** The only place that reads the environment. Empty variables count as absent. */
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
