#define MSL_SWZ_2 \
  vec<T,2> get_xx() const { return vec<T,2>(v[0],v[0]); } \
  __declspec(property(get=get_xx)) vec<T,2> xx; \
  vec<T,2> get_xy() const { return vec<T,2>(v[0],v[1]); } \
  void put_xy(const vec<T,2>& o) { v[0]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_xy,put=put_xy)) vec<T,2> xy; \
  vec<T,2> get_yx() const { return vec<T,2>(v[1],v[0]); } \
  void put_yx(const vec<T,2>& o) { v[1]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_yx,put=put_yx)) vec<T,2> yx; \
  vec<T,2> get_yy() const { return vec<T,2>(v[1],v[1]); } \
  __declspec(property(get=get_yy)) vec<T,2> yy; \
  vec<T,3> get_xxx() const { return vec<T,3>(v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxx)) vec<T,3> xxx; \
  vec<T,3> get_xxy() const { return vec<T,3>(v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxy)) vec<T,3> xxy; \
  vec<T,3> get_xyx() const { return vec<T,3>(v[0],v[1],v[0]); } \
  __declspec(property(get=get_xyx)) vec<T,3> xyx; \
  vec<T,3> get_xyy() const { return vec<T,3>(v[0],v[1],v[1]); } \
  __declspec(property(get=get_xyy)) vec<T,3> xyy; \
  vec<T,3> get_yxx() const { return vec<T,3>(v[1],v[0],v[0]); } \
  __declspec(property(get=get_yxx)) vec<T,3> yxx; \
  vec<T,3> get_yxy() const { return vec<T,3>(v[1],v[0],v[1]); } \
  __declspec(property(get=get_yxy)) vec<T,3> yxy; \
  vec<T,3> get_yyx() const { return vec<T,3>(v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyx)) vec<T,3> yyx; \
  vec<T,3> get_yyy() const { return vec<T,3>(v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyy)) vec<T,3> yyy; \
  vec<T,4> get_xxxx() const { return vec<T,4>(v[0],v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxxx)) vec<T,4> xxxx; \
  vec<T,4> get_xxxy() const { return vec<T,4>(v[0],v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxxy)) vec<T,4> xxxy; \
  vec<T,4> get_xxyx() const { return vec<T,4>(v[0],v[0],v[1],v[0]); } \
  __declspec(property(get=get_xxyx)) vec<T,4> xxyx; \
  vec<T,4> get_xxyy() const { return vec<T,4>(v[0],v[0],v[1],v[1]); } \
  __declspec(property(get=get_xxyy)) vec<T,4> xxyy; \
  vec<T,4> get_xyxx() const { return vec<T,4>(v[0],v[1],v[0],v[0]); } \
  __declspec(property(get=get_xyxx)) vec<T,4> xyxx; \
  vec<T,4> get_xyxy() const { return vec<T,4>(v[0],v[1],v[0],v[1]); } \
  __declspec(property(get=get_xyxy)) vec<T,4> xyxy; \
  vec<T,4> get_xyyx() const { return vec<T,4>(v[0],v[1],v[1],v[0]); } \
  __declspec(property(get=get_xyyx)) vec<T,4> xyyx; \
  vec<T,4> get_xyyy() const { return vec<T,4>(v[0],v[1],v[1],v[1]); } \
  __declspec(property(get=get_xyyy)) vec<T,4> xyyy; \
  vec<T,4> get_yxxx() const { return vec<T,4>(v[1],v[0],v[0],v[0]); } \
  __declspec(property(get=get_yxxx)) vec<T,4> yxxx; \
  vec<T,4> get_yxxy() const { return vec<T,4>(v[1],v[0],v[0],v[1]); } \
  __declspec(property(get=get_yxxy)) vec<T,4> yxxy; \
  vec<T,4> get_yxyx() const { return vec<T,4>(v[1],v[0],v[1],v[0]); } \
  __declspec(property(get=get_yxyx)) vec<T,4> yxyx; \
  vec<T,4> get_yxyy() const { return vec<T,4>(v[1],v[0],v[1],v[1]); } \
  __declspec(property(get=get_yxyy)) vec<T,4> yxyy; \
  vec<T,4> get_yyxx() const { return vec<T,4>(v[1],v[1],v[0],v[0]); } \
  __declspec(property(get=get_yyxx)) vec<T,4> yyxx; \
  vec<T,4> get_yyxy() const { return vec<T,4>(v[1],v[1],v[0],v[1]); } \
  __declspec(property(get=get_yyxy)) vec<T,4> yyxy; \
  vec<T,4> get_yyyx() const { return vec<T,4>(v[1],v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyyx)) vec<T,4> yyyx; \
  vec<T,4> get_yyyy() const { return vec<T,4>(v[1],v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyyy)) vec<T,4> yyyy;
#define MSL_SWZ_3 \
  vec<T,2> get_xx() const { return vec<T,2>(v[0],v[0]); } \
  __declspec(property(get=get_xx)) vec<T,2> xx; \
  vec<T,2> get_xy() const { return vec<T,2>(v[0],v[1]); } \
  void put_xy(const vec<T,2>& o) { v[0]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_xy,put=put_xy)) vec<T,2> xy; \
  vec<T,2> get_xz() const { return vec<T,2>(v[0],v[2]); } \
  void put_xz(const vec<T,2>& o) { v[0]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_xz,put=put_xz)) vec<T,2> xz; \
  vec<T,2> get_yx() const { return vec<T,2>(v[1],v[0]); } \
  void put_yx(const vec<T,2>& o) { v[1]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_yx,put=put_yx)) vec<T,2> yx; \
  vec<T,2> get_yy() const { return vec<T,2>(v[1],v[1]); } \
  __declspec(property(get=get_yy)) vec<T,2> yy; \
  vec<T,2> get_yz() const { return vec<T,2>(v[1],v[2]); } \
  void put_yz(const vec<T,2>& o) { v[1]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_yz,put=put_yz)) vec<T,2> yz; \
  vec<T,2> get_zx() const { return vec<T,2>(v[2],v[0]); } \
  void put_zx(const vec<T,2>& o) { v[2]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_zx,put=put_zx)) vec<T,2> zx; \
  vec<T,2> get_zy() const { return vec<T,2>(v[2],v[1]); } \
  void put_zy(const vec<T,2>& o) { v[2]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_zy,put=put_zy)) vec<T,2> zy; \
  vec<T,2> get_zz() const { return vec<T,2>(v[2],v[2]); } \
  __declspec(property(get=get_zz)) vec<T,2> zz; \
  vec<T,3> get_xxx() const { return vec<T,3>(v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxx)) vec<T,3> xxx; \
  vec<T,3> get_xxy() const { return vec<T,3>(v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxy)) vec<T,3> xxy; \
  vec<T,3> get_xxz() const { return vec<T,3>(v[0],v[0],v[2]); } \
  __declspec(property(get=get_xxz)) vec<T,3> xxz; \
  vec<T,3> get_xyx() const { return vec<T,3>(v[0],v[1],v[0]); } \
  __declspec(property(get=get_xyx)) vec<T,3> xyx; \
  vec<T,3> get_xyy() const { return vec<T,3>(v[0],v[1],v[1]); } \
  __declspec(property(get=get_xyy)) vec<T,3> xyy; \
  vec<T,3> get_xyz() const { return vec<T,3>(v[0],v[1],v[2]); } \
  void put_xyz(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_xyz,put=put_xyz)) vec<T,3> xyz; \
  vec<T,3> get_xzx() const { return vec<T,3>(v[0],v[2],v[0]); } \
  __declspec(property(get=get_xzx)) vec<T,3> xzx; \
  vec<T,3> get_xzy() const { return vec<T,3>(v[0],v[2],v[1]); } \
  void put_xzy(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_xzy,put=put_xzy)) vec<T,3> xzy; \
  vec<T,3> get_xzz() const { return vec<T,3>(v[0],v[2],v[2]); } \
  __declspec(property(get=get_xzz)) vec<T,3> xzz; \
  vec<T,3> get_yxx() const { return vec<T,3>(v[1],v[0],v[0]); } \
  __declspec(property(get=get_yxx)) vec<T,3> yxx; \
  vec<T,3> get_yxy() const { return vec<T,3>(v[1],v[0],v[1]); } \
  __declspec(property(get=get_yxy)) vec<T,3> yxy; \
  vec<T,3> get_yxz() const { return vec<T,3>(v[1],v[0],v[2]); } \
  void put_yxz(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_yxz,put=put_yxz)) vec<T,3> yxz; \
  vec<T,3> get_yyx() const { return vec<T,3>(v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyx)) vec<T,3> yyx; \
  vec<T,3> get_yyy() const { return vec<T,3>(v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyy)) vec<T,3> yyy; \
  vec<T,3> get_yyz() const { return vec<T,3>(v[1],v[1],v[2]); } \
  __declspec(property(get=get_yyz)) vec<T,3> yyz; \
  vec<T,3> get_yzx() const { return vec<T,3>(v[1],v[2],v[0]); } \
  void put_yzx(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_yzx,put=put_yzx)) vec<T,3> yzx; \
  vec<T,3> get_yzy() const { return vec<T,3>(v[1],v[2],v[1]); } \
  __declspec(property(get=get_yzy)) vec<T,3> yzy; \
  vec<T,3> get_yzz() const { return vec<T,3>(v[1],v[2],v[2]); } \
  __declspec(property(get=get_yzz)) vec<T,3> yzz; \
  vec<T,3> get_zxx() const { return vec<T,3>(v[2],v[0],v[0]); } \
  __declspec(property(get=get_zxx)) vec<T,3> zxx; \
  vec<T,3> get_zxy() const { return vec<T,3>(v[2],v[0],v[1]); } \
  void put_zxy(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_zxy,put=put_zxy)) vec<T,3> zxy; \
  vec<T,3> get_zxz() const { return vec<T,3>(v[2],v[0],v[2]); } \
  __declspec(property(get=get_zxz)) vec<T,3> zxz; \
  vec<T,3> get_zyx() const { return vec<T,3>(v[2],v[1],v[0]); } \
  void put_zyx(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_zyx,put=put_zyx)) vec<T,3> zyx; \
  vec<T,3> get_zyy() const { return vec<T,3>(v[2],v[1],v[1]); } \
  __declspec(property(get=get_zyy)) vec<T,3> zyy; \
  vec<T,3> get_zyz() const { return vec<T,3>(v[2],v[1],v[2]); } \
  __declspec(property(get=get_zyz)) vec<T,3> zyz; \
  vec<T,3> get_zzx() const { return vec<T,3>(v[2],v[2],v[0]); } \
  __declspec(property(get=get_zzx)) vec<T,3> zzx; \
  vec<T,3> get_zzy() const { return vec<T,3>(v[2],v[2],v[1]); } \
  __declspec(property(get=get_zzy)) vec<T,3> zzy; \
  vec<T,3> get_zzz() const { return vec<T,3>(v[2],v[2],v[2]); } \
  __declspec(property(get=get_zzz)) vec<T,3> zzz; \
  vec<T,4> get_xxxx() const { return vec<T,4>(v[0],v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxxx)) vec<T,4> xxxx; \
  vec<T,4> get_xxxy() const { return vec<T,4>(v[0],v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxxy)) vec<T,4> xxxy; \
  vec<T,4> get_xxxz() const { return vec<T,4>(v[0],v[0],v[0],v[2]); } \
  __declspec(property(get=get_xxxz)) vec<T,4> xxxz; \
  vec<T,4> get_xxyx() const { return vec<T,4>(v[0],v[0],v[1],v[0]); } \
  __declspec(property(get=get_xxyx)) vec<T,4> xxyx; \
  vec<T,4> get_xxyy() const { return vec<T,4>(v[0],v[0],v[1],v[1]); } \
  __declspec(property(get=get_xxyy)) vec<T,4> xxyy; \
  vec<T,4> get_xxyz() const { return vec<T,4>(v[0],v[0],v[1],v[2]); } \
  __declspec(property(get=get_xxyz)) vec<T,4> xxyz; \
  vec<T,4> get_xxzx() const { return vec<T,4>(v[0],v[0],v[2],v[0]); } \
  __declspec(property(get=get_xxzx)) vec<T,4> xxzx; \
  vec<T,4> get_xxzy() const { return vec<T,4>(v[0],v[0],v[2],v[1]); } \
  __declspec(property(get=get_xxzy)) vec<T,4> xxzy; \
  vec<T,4> get_xxzz() const { return vec<T,4>(v[0],v[0],v[2],v[2]); } \
  __declspec(property(get=get_xxzz)) vec<T,4> xxzz; \
  vec<T,4> get_xyxx() const { return vec<T,4>(v[0],v[1],v[0],v[0]); } \
  __declspec(property(get=get_xyxx)) vec<T,4> xyxx; \
  vec<T,4> get_xyxy() const { return vec<T,4>(v[0],v[1],v[0],v[1]); } \
  __declspec(property(get=get_xyxy)) vec<T,4> xyxy; \
  vec<T,4> get_xyxz() const { return vec<T,4>(v[0],v[1],v[0],v[2]); } \
  __declspec(property(get=get_xyxz)) vec<T,4> xyxz; \
  vec<T,4> get_xyyx() const { return vec<T,4>(v[0],v[1],v[1],v[0]); } \
  __declspec(property(get=get_xyyx)) vec<T,4> xyyx; \
  vec<T,4> get_xyyy() const { return vec<T,4>(v[0],v[1],v[1],v[1]); } \
  __declspec(property(get=get_xyyy)) vec<T,4> xyyy; \
  vec<T,4> get_xyyz() const { return vec<T,4>(v[0],v[1],v[1],v[2]); } \
  __declspec(property(get=get_xyyz)) vec<T,4> xyyz; \
  vec<T,4> get_xyzx() const { return vec<T,4>(v[0],v[1],v[2],v[0]); } \
  __declspec(property(get=get_xyzx)) vec<T,4> xyzx; \
  vec<T,4> get_xyzy() const { return vec<T,4>(v[0],v[1],v[2],v[1]); } \
  __declspec(property(get=get_xyzy)) vec<T,4> xyzy; \
  vec<T,4> get_xyzz() const { return vec<T,4>(v[0],v[1],v[2],v[2]); } \
  __declspec(property(get=get_xyzz)) vec<T,4> xyzz; \
  vec<T,4> get_xzxx() const { return vec<T,4>(v[0],v[2],v[0],v[0]); } \
  __declspec(property(get=get_xzxx)) vec<T,4> xzxx; \
  vec<T,4> get_xzxy() const { return vec<T,4>(v[0],v[2],v[0],v[1]); } \
  __declspec(property(get=get_xzxy)) vec<T,4> xzxy; \
  vec<T,4> get_xzxz() const { return vec<T,4>(v[0],v[2],v[0],v[2]); } \
  __declspec(property(get=get_xzxz)) vec<T,4> xzxz; \
  vec<T,4> get_xzyx() const { return vec<T,4>(v[0],v[2],v[1],v[0]); } \
  __declspec(property(get=get_xzyx)) vec<T,4> xzyx; \
  vec<T,4> get_xzyy() const { return vec<T,4>(v[0],v[2],v[1],v[1]); } \
  __declspec(property(get=get_xzyy)) vec<T,4> xzyy; \
  vec<T,4> get_xzyz() const { return vec<T,4>(v[0],v[2],v[1],v[2]); } \
  __declspec(property(get=get_xzyz)) vec<T,4> xzyz; \
  vec<T,4> get_xzzx() const { return vec<T,4>(v[0],v[2],v[2],v[0]); } \
  __declspec(property(get=get_xzzx)) vec<T,4> xzzx; \
  vec<T,4> get_xzzy() const { return vec<T,4>(v[0],v[2],v[2],v[1]); } \
  __declspec(property(get=get_xzzy)) vec<T,4> xzzy; \
  vec<T,4> get_xzzz() const { return vec<T,4>(v[0],v[2],v[2],v[2]); } \
  __declspec(property(get=get_xzzz)) vec<T,4> xzzz; \
  vec<T,4> get_yxxx() const { return vec<T,4>(v[1],v[0],v[0],v[0]); } \
  __declspec(property(get=get_yxxx)) vec<T,4> yxxx; \
  vec<T,4> get_yxxy() const { return vec<T,4>(v[1],v[0],v[0],v[1]); } \
  __declspec(property(get=get_yxxy)) vec<T,4> yxxy; \
  vec<T,4> get_yxxz() const { return vec<T,4>(v[1],v[0],v[0],v[2]); } \
  __declspec(property(get=get_yxxz)) vec<T,4> yxxz; \
  vec<T,4> get_yxyx() const { return vec<T,4>(v[1],v[0],v[1],v[0]); } \
  __declspec(property(get=get_yxyx)) vec<T,4> yxyx; \
  vec<T,4> get_yxyy() const { return vec<T,4>(v[1],v[0],v[1],v[1]); } \
  __declspec(property(get=get_yxyy)) vec<T,4> yxyy; \
  vec<T,4> get_yxyz() const { return vec<T,4>(v[1],v[0],v[1],v[2]); } \
  __declspec(property(get=get_yxyz)) vec<T,4> yxyz; \
  vec<T,4> get_yxzx() const { return vec<T,4>(v[1],v[0],v[2],v[0]); } \
  __declspec(property(get=get_yxzx)) vec<T,4> yxzx; \
  vec<T,4> get_yxzy() const { return vec<T,4>(v[1],v[0],v[2],v[1]); } \
  __declspec(property(get=get_yxzy)) vec<T,4> yxzy; \
  vec<T,4> get_yxzz() const { return vec<T,4>(v[1],v[0],v[2],v[2]); } \
  __declspec(property(get=get_yxzz)) vec<T,4> yxzz; \
  vec<T,4> get_yyxx() const { return vec<T,4>(v[1],v[1],v[0],v[0]); } \
  __declspec(property(get=get_yyxx)) vec<T,4> yyxx; \
  vec<T,4> get_yyxy() const { return vec<T,4>(v[1],v[1],v[0],v[1]); } \
  __declspec(property(get=get_yyxy)) vec<T,4> yyxy; \
  vec<T,4> get_yyxz() const { return vec<T,4>(v[1],v[1],v[0],v[2]); } \
  __declspec(property(get=get_yyxz)) vec<T,4> yyxz; \
  vec<T,4> get_yyyx() const { return vec<T,4>(v[1],v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyyx)) vec<T,4> yyyx; \
  vec<T,4> get_yyyy() const { return vec<T,4>(v[1],v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyyy)) vec<T,4> yyyy; \
  vec<T,4> get_yyyz() const { return vec<T,4>(v[1],v[1],v[1],v[2]); } \
  __declspec(property(get=get_yyyz)) vec<T,4> yyyz; \
  vec<T,4> get_yyzx() const { return vec<T,4>(v[1],v[1],v[2],v[0]); } \
  __declspec(property(get=get_yyzx)) vec<T,4> yyzx; \
  vec<T,4> get_yyzy() const { return vec<T,4>(v[1],v[1],v[2],v[1]); } \
  __declspec(property(get=get_yyzy)) vec<T,4> yyzy; \
  vec<T,4> get_yyzz() const { return vec<T,4>(v[1],v[1],v[2],v[2]); } \
  __declspec(property(get=get_yyzz)) vec<T,4> yyzz; \
  vec<T,4> get_yzxx() const { return vec<T,4>(v[1],v[2],v[0],v[0]); } \
  __declspec(property(get=get_yzxx)) vec<T,4> yzxx; \
  vec<T,4> get_yzxy() const { return vec<T,4>(v[1],v[2],v[0],v[1]); } \
  __declspec(property(get=get_yzxy)) vec<T,4> yzxy; \
  vec<T,4> get_yzxz() const { return vec<T,4>(v[1],v[2],v[0],v[2]); } \
  __declspec(property(get=get_yzxz)) vec<T,4> yzxz; \
  vec<T,4> get_yzyx() const { return vec<T,4>(v[1],v[2],v[1],v[0]); } \
  __declspec(property(get=get_yzyx)) vec<T,4> yzyx; \
  vec<T,4> get_yzyy() const { return vec<T,4>(v[1],v[2],v[1],v[1]); } \
  __declspec(property(get=get_yzyy)) vec<T,4> yzyy; \
  vec<T,4> get_yzyz() const { return vec<T,4>(v[1],v[2],v[1],v[2]); } \
  __declspec(property(get=get_yzyz)) vec<T,4> yzyz; \
  vec<T,4> get_yzzx() const { return vec<T,4>(v[1],v[2],v[2],v[0]); } \
  __declspec(property(get=get_yzzx)) vec<T,4> yzzx; \
  vec<T,4> get_yzzy() const { return vec<T,4>(v[1],v[2],v[2],v[1]); } \
  __declspec(property(get=get_yzzy)) vec<T,4> yzzy; \
  vec<T,4> get_yzzz() const { return vec<T,4>(v[1],v[2],v[2],v[2]); } \
  __declspec(property(get=get_yzzz)) vec<T,4> yzzz; \
  vec<T,4> get_zxxx() const { return vec<T,4>(v[2],v[0],v[0],v[0]); } \
  __declspec(property(get=get_zxxx)) vec<T,4> zxxx; \
  vec<T,4> get_zxxy() const { return vec<T,4>(v[2],v[0],v[0],v[1]); } \
  __declspec(property(get=get_zxxy)) vec<T,4> zxxy; \
  vec<T,4> get_zxxz() const { return vec<T,4>(v[2],v[0],v[0],v[2]); } \
  __declspec(property(get=get_zxxz)) vec<T,4> zxxz; \
  vec<T,4> get_zxyx() const { return vec<T,4>(v[2],v[0],v[1],v[0]); } \
  __declspec(property(get=get_zxyx)) vec<T,4> zxyx; \
  vec<T,4> get_zxyy() const { return vec<T,4>(v[2],v[0],v[1],v[1]); } \
  __declspec(property(get=get_zxyy)) vec<T,4> zxyy; \
  vec<T,4> get_zxyz() const { return vec<T,4>(v[2],v[0],v[1],v[2]); } \
  __declspec(property(get=get_zxyz)) vec<T,4> zxyz; \
  vec<T,4> get_zxzx() const { return vec<T,4>(v[2],v[0],v[2],v[0]); } \
  __declspec(property(get=get_zxzx)) vec<T,4> zxzx; \
  vec<T,4> get_zxzy() const { return vec<T,4>(v[2],v[0],v[2],v[1]); } \
  __declspec(property(get=get_zxzy)) vec<T,4> zxzy; \
  vec<T,4> get_zxzz() const { return vec<T,4>(v[2],v[0],v[2],v[2]); } \
  __declspec(property(get=get_zxzz)) vec<T,4> zxzz; \
  vec<T,4> get_zyxx() const { return vec<T,4>(v[2],v[1],v[0],v[0]); } \
  __declspec(property(get=get_zyxx)) vec<T,4> zyxx; \
  vec<T,4> get_zyxy() const { return vec<T,4>(v[2],v[1],v[0],v[1]); } \
  __declspec(property(get=get_zyxy)) vec<T,4> zyxy; \
  vec<T,4> get_zyxz() const { return vec<T,4>(v[2],v[1],v[0],v[2]); } \
  __declspec(property(get=get_zyxz)) vec<T,4> zyxz; \
  vec<T,4> get_zyyx() const { return vec<T,4>(v[2],v[1],v[1],v[0]); } \
  __declspec(property(get=get_zyyx)) vec<T,4> zyyx; \
  vec<T,4> get_zyyy() const { return vec<T,4>(v[2],v[1],v[1],v[1]); } \
  __declspec(property(get=get_zyyy)) vec<T,4> zyyy; \
  vec<T,4> get_zyyz() const { return vec<T,4>(v[2],v[1],v[1],v[2]); } \
  __declspec(property(get=get_zyyz)) vec<T,4> zyyz; \
  vec<T,4> get_zyzx() const { return vec<T,4>(v[2],v[1],v[2],v[0]); } \
  __declspec(property(get=get_zyzx)) vec<T,4> zyzx; \
  vec<T,4> get_zyzy() const { return vec<T,4>(v[2],v[1],v[2],v[1]); } \
  __declspec(property(get=get_zyzy)) vec<T,4> zyzy; \
  vec<T,4> get_zyzz() const { return vec<T,4>(v[2],v[1],v[2],v[2]); } \
  __declspec(property(get=get_zyzz)) vec<T,4> zyzz; \
  vec<T,4> get_zzxx() const { return vec<T,4>(v[2],v[2],v[0],v[0]); } \
  __declspec(property(get=get_zzxx)) vec<T,4> zzxx; \
  vec<T,4> get_zzxy() const { return vec<T,4>(v[2],v[2],v[0],v[1]); } \
  __declspec(property(get=get_zzxy)) vec<T,4> zzxy; \
  vec<T,4> get_zzxz() const { return vec<T,4>(v[2],v[2],v[0],v[2]); } \
  __declspec(property(get=get_zzxz)) vec<T,4> zzxz; \
  vec<T,4> get_zzyx() const { return vec<T,4>(v[2],v[2],v[1],v[0]); } \
  __declspec(property(get=get_zzyx)) vec<T,4> zzyx; \
  vec<T,4> get_zzyy() const { return vec<T,4>(v[2],v[2],v[1],v[1]); } \
  __declspec(property(get=get_zzyy)) vec<T,4> zzyy; \
  vec<T,4> get_zzyz() const { return vec<T,4>(v[2],v[2],v[1],v[2]); } \
  __declspec(property(get=get_zzyz)) vec<T,4> zzyz; \
  vec<T,4> get_zzzx() const { return vec<T,4>(v[2],v[2],v[2],v[0]); } \
  __declspec(property(get=get_zzzx)) vec<T,4> zzzx; \
  vec<T,4> get_zzzy() const { return vec<T,4>(v[2],v[2],v[2],v[1]); } \
  __declspec(property(get=get_zzzy)) vec<T,4> zzzy; \
  vec<T,4> get_zzzz() const { return vec<T,4>(v[2],v[2],v[2],v[2]); } \
  __declspec(property(get=get_zzzz)) vec<T,4> zzzz; \
  vec<T,2> get_rr() const { return vec<T,2>(v[0],v[0]); } \
  __declspec(property(get=get_rr)) vec<T,2> rr; \
  vec<T,2> get_rg() const { return vec<T,2>(v[0],v[1]); } \
  void put_rg(const vec<T,2>& o) { v[0]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_rg,put=put_rg)) vec<T,2> rg; \
  vec<T,2> get_rb() const { return vec<T,2>(v[0],v[2]); } \
  void put_rb(const vec<T,2>& o) { v[0]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_rb,put=put_rb)) vec<T,2> rb; \
  vec<T,2> get_gr() const { return vec<T,2>(v[1],v[0]); } \
  void put_gr(const vec<T,2>& o) { v[1]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_gr,put=put_gr)) vec<T,2> gr; \
  vec<T,2> get_gg() const { return vec<T,2>(v[1],v[1]); } \
  __declspec(property(get=get_gg)) vec<T,2> gg; \
  vec<T,2> get_gb() const { return vec<T,2>(v[1],v[2]); } \
  void put_gb(const vec<T,2>& o) { v[1]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_gb,put=put_gb)) vec<T,2> gb; \
  vec<T,2> get_br() const { return vec<T,2>(v[2],v[0]); } \
  void put_br(const vec<T,2>& o) { v[2]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_br,put=put_br)) vec<T,2> br; \
  vec<T,2> get_bg() const { return vec<T,2>(v[2],v[1]); } \
  void put_bg(const vec<T,2>& o) { v[2]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_bg,put=put_bg)) vec<T,2> bg; \
  vec<T,2> get_bb() const { return vec<T,2>(v[2],v[2]); } \
  __declspec(property(get=get_bb)) vec<T,2> bb; \
  vec<T,3> get_rrr() const { return vec<T,3>(v[0],v[0],v[0]); } \
  __declspec(property(get=get_rrr)) vec<T,3> rrr; \
  vec<T,3> get_rrg() const { return vec<T,3>(v[0],v[0],v[1]); } \
  __declspec(property(get=get_rrg)) vec<T,3> rrg; \
  vec<T,3> get_rrb() const { return vec<T,3>(v[0],v[0],v[2]); } \
  __declspec(property(get=get_rrb)) vec<T,3> rrb; \
  vec<T,3> get_rgr() const { return vec<T,3>(v[0],v[1],v[0]); } \
  __declspec(property(get=get_rgr)) vec<T,3> rgr; \
  vec<T,3> get_rgg() const { return vec<T,3>(v[0],v[1],v[1]); } \
  __declspec(property(get=get_rgg)) vec<T,3> rgg; \
  vec<T,3> get_rgb() const { return vec<T,3>(v[0],v[1],v[2]); } \
  void put_rgb(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_rgb,put=put_rgb)) vec<T,3> rgb; \
  vec<T,3> get_rbr() const { return vec<T,3>(v[0],v[2],v[0]); } \
  __declspec(property(get=get_rbr)) vec<T,3> rbr; \
  vec<T,3> get_rbg() const { return vec<T,3>(v[0],v[2],v[1]); } \
  void put_rbg(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_rbg,put=put_rbg)) vec<T,3> rbg; \
  vec<T,3> get_rbb() const { return vec<T,3>(v[0],v[2],v[2]); } \
  __declspec(property(get=get_rbb)) vec<T,3> rbb; \
  vec<T,3> get_grr() const { return vec<T,3>(v[1],v[0],v[0]); } \
  __declspec(property(get=get_grr)) vec<T,3> grr; \
  vec<T,3> get_grg() const { return vec<T,3>(v[1],v[0],v[1]); } \
  __declspec(property(get=get_grg)) vec<T,3> grg; \
  vec<T,3> get_grb() const { return vec<T,3>(v[1],v[0],v[2]); } \
  void put_grb(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_grb,put=put_grb)) vec<T,3> grb; \
  vec<T,3> get_ggr() const { return vec<T,3>(v[1],v[1],v[0]); } \
  __declspec(property(get=get_ggr)) vec<T,3> ggr; \
  vec<T,3> get_ggg() const { return vec<T,3>(v[1],v[1],v[1]); } \
  __declspec(property(get=get_ggg)) vec<T,3> ggg; \
  vec<T,3> get_ggb() const { return vec<T,3>(v[1],v[1],v[2]); } \
  __declspec(property(get=get_ggb)) vec<T,3> ggb; \
  vec<T,3> get_gbr() const { return vec<T,3>(v[1],v[2],v[0]); } \
  void put_gbr(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_gbr,put=put_gbr)) vec<T,3> gbr; \
  vec<T,3> get_gbg() const { return vec<T,3>(v[1],v[2],v[1]); } \
  __declspec(property(get=get_gbg)) vec<T,3> gbg; \
  vec<T,3> get_gbb() const { return vec<T,3>(v[1],v[2],v[2]); } \
  __declspec(property(get=get_gbb)) vec<T,3> gbb; \
  vec<T,3> get_brr() const { return vec<T,3>(v[2],v[0],v[0]); } \
  __declspec(property(get=get_brr)) vec<T,3> brr; \
  vec<T,3> get_brg() const { return vec<T,3>(v[2],v[0],v[1]); } \
  void put_brg(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_brg,put=put_brg)) vec<T,3> brg; \
  vec<T,3> get_brb() const { return vec<T,3>(v[2],v[0],v[2]); } \
  __declspec(property(get=get_brb)) vec<T,3> brb; \
  vec<T,3> get_bgr() const { return vec<T,3>(v[2],v[1],v[0]); } \
  void put_bgr(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_bgr,put=put_bgr)) vec<T,3> bgr; \
  vec<T,3> get_bgg() const { return vec<T,3>(v[2],v[1],v[1]); } \
  __declspec(property(get=get_bgg)) vec<T,3> bgg; \
  vec<T,3> get_bgb() const { return vec<T,3>(v[2],v[1],v[2]); } \
  __declspec(property(get=get_bgb)) vec<T,3> bgb; \
  vec<T,3> get_bbr() const { return vec<T,3>(v[2],v[2],v[0]); } \
  __declspec(property(get=get_bbr)) vec<T,3> bbr; \
  vec<T,3> get_bbg() const { return vec<T,3>(v[2],v[2],v[1]); } \
  __declspec(property(get=get_bbg)) vec<T,3> bbg; \
  vec<T,3> get_bbb() const { return vec<T,3>(v[2],v[2],v[2]); } \
  __declspec(property(get=get_bbb)) vec<T,3> bbb; \
  vec<T,4> get_rrrr() const { return vec<T,4>(v[0],v[0],v[0],v[0]); } \
  __declspec(property(get=get_rrrr)) vec<T,4> rrrr; \
  vec<T,4> get_rrrg() const { return vec<T,4>(v[0],v[0],v[0],v[1]); } \
  __declspec(property(get=get_rrrg)) vec<T,4> rrrg; \
  vec<T,4> get_rrrb() const { return vec<T,4>(v[0],v[0],v[0],v[2]); } \
  __declspec(property(get=get_rrrb)) vec<T,4> rrrb; \
  vec<T,4> get_rrgr() const { return vec<T,4>(v[0],v[0],v[1],v[0]); } \
  __declspec(property(get=get_rrgr)) vec<T,4> rrgr; \
  vec<T,4> get_rrgg() const { return vec<T,4>(v[0],v[0],v[1],v[1]); } \
  __declspec(property(get=get_rrgg)) vec<T,4> rrgg; \
  vec<T,4> get_rrgb() const { return vec<T,4>(v[0],v[0],v[1],v[2]); } \
  __declspec(property(get=get_rrgb)) vec<T,4> rrgb; \
  vec<T,4> get_rrbr() const { return vec<T,4>(v[0],v[0],v[2],v[0]); } \
  __declspec(property(get=get_rrbr)) vec<T,4> rrbr; \
  vec<T,4> get_rrbg() const { return vec<T,4>(v[0],v[0],v[2],v[1]); } \
  __declspec(property(get=get_rrbg)) vec<T,4> rrbg; \
  vec<T,4> get_rrbb() const { return vec<T,4>(v[0],v[0],v[2],v[2]); } \
  __declspec(property(get=get_rrbb)) vec<T,4> rrbb; \
  vec<T,4> get_rgrr() const { return vec<T,4>(v[0],v[1],v[0],v[0]); } \
  __declspec(property(get=get_rgrr)) vec<T,4> rgrr; \
  vec<T,4> get_rgrg() const { return vec<T,4>(v[0],v[1],v[0],v[1]); } \
  __declspec(property(get=get_rgrg)) vec<T,4> rgrg; \
  vec<T,4> get_rgrb() const { return vec<T,4>(v[0],v[1],v[0],v[2]); } \
  __declspec(property(get=get_rgrb)) vec<T,4> rgrb; \
  vec<T,4> get_rggr() const { return vec<T,4>(v[0],v[1],v[1],v[0]); } \
  __declspec(property(get=get_rggr)) vec<T,4> rggr; \
  vec<T,4> get_rggg() const { return vec<T,4>(v[0],v[1],v[1],v[1]); } \
  __declspec(property(get=get_rggg)) vec<T,4> rggg; \
  vec<T,4> get_rggb() const { return vec<T,4>(v[0],v[1],v[1],v[2]); } \
  __declspec(property(get=get_rggb)) vec<T,4> rggb; \
  vec<T,4> get_rgbr() const { return vec<T,4>(v[0],v[1],v[2],v[0]); } \
  __declspec(property(get=get_rgbr)) vec<T,4> rgbr; \
  vec<T,4> get_rgbg() const { return vec<T,4>(v[0],v[1],v[2],v[1]); } \
  __declspec(property(get=get_rgbg)) vec<T,4> rgbg; \
  vec<T,4> get_rgbb() const { return vec<T,4>(v[0],v[1],v[2],v[2]); } \
  __declspec(property(get=get_rgbb)) vec<T,4> rgbb; \
  vec<T,4> get_rbrr() const { return vec<T,4>(v[0],v[2],v[0],v[0]); } \
  __declspec(property(get=get_rbrr)) vec<T,4> rbrr; \
  vec<T,4> get_rbrg() const { return vec<T,4>(v[0],v[2],v[0],v[1]); } \
  __declspec(property(get=get_rbrg)) vec<T,4> rbrg; \
  vec<T,4> get_rbrb() const { return vec<T,4>(v[0],v[2],v[0],v[2]); } \
  __declspec(property(get=get_rbrb)) vec<T,4> rbrb; \
  vec<T,4> get_rbgr() const { return vec<T,4>(v[0],v[2],v[1],v[0]); } \
  __declspec(property(get=get_rbgr)) vec<T,4> rbgr; \
  vec<T,4> get_rbgg() const { return vec<T,4>(v[0],v[2],v[1],v[1]); } \
  __declspec(property(get=get_rbgg)) vec<T,4> rbgg; \
  vec<T,4> get_rbgb() const { return vec<T,4>(v[0],v[2],v[1],v[2]); } \
  __declspec(property(get=get_rbgb)) vec<T,4> rbgb; \
  vec<T,4> get_rbbr() const { return vec<T,4>(v[0],v[2],v[2],v[0]); } \
  __declspec(property(get=get_rbbr)) vec<T,4> rbbr; \
  vec<T,4> get_rbbg() const { return vec<T,4>(v[0],v[2],v[2],v[1]); } \
  __declspec(property(get=get_rbbg)) vec<T,4> rbbg; \
  vec<T,4> get_rbbb() const { return vec<T,4>(v[0],v[2],v[2],v[2]); } \
  __declspec(property(get=get_rbbb)) vec<T,4> rbbb; \
  vec<T,4> get_grrr() const { return vec<T,4>(v[1],v[0],v[0],v[0]); } \
  __declspec(property(get=get_grrr)) vec<T,4> grrr; \
  vec<T,4> get_grrg() const { return vec<T,4>(v[1],v[0],v[0],v[1]); } \
  __declspec(property(get=get_grrg)) vec<T,4> grrg; \
  vec<T,4> get_grrb() const { return vec<T,4>(v[1],v[0],v[0],v[2]); } \
  __declspec(property(get=get_grrb)) vec<T,4> grrb; \
  vec<T,4> get_grgr() const { return vec<T,4>(v[1],v[0],v[1],v[0]); } \
  __declspec(property(get=get_grgr)) vec<T,4> grgr; \
  vec<T,4> get_grgg() const { return vec<T,4>(v[1],v[0],v[1],v[1]); } \
  __declspec(property(get=get_grgg)) vec<T,4> grgg; \
  vec<T,4> get_grgb() const { return vec<T,4>(v[1],v[0],v[1],v[2]); } \
  __declspec(property(get=get_grgb)) vec<T,4> grgb; \
  vec<T,4> get_grbr() const { return vec<T,4>(v[1],v[0],v[2],v[0]); } \
  __declspec(property(get=get_grbr)) vec<T,4> grbr; \
  vec<T,4> get_grbg() const { return vec<T,4>(v[1],v[0],v[2],v[1]); } \
  __declspec(property(get=get_grbg)) vec<T,4> grbg; \
  vec<T,4> get_grbb() const { return vec<T,4>(v[1],v[0],v[2],v[2]); } \
  __declspec(property(get=get_grbb)) vec<T,4> grbb; \
  vec<T,4> get_ggrr() const { return vec<T,4>(v[1],v[1],v[0],v[0]); } \
  __declspec(property(get=get_ggrr)) vec<T,4> ggrr; \
  vec<T,4> get_ggrg() const { return vec<T,4>(v[1],v[1],v[0],v[1]); } \
  __declspec(property(get=get_ggrg)) vec<T,4> ggrg; \
  vec<T,4> get_ggrb() const { return vec<T,4>(v[1],v[1],v[0],v[2]); } \
  __declspec(property(get=get_ggrb)) vec<T,4> ggrb; \
  vec<T,4> get_gggr() const { return vec<T,4>(v[1],v[1],v[1],v[0]); } \
  __declspec(property(get=get_gggr)) vec<T,4> gggr; \
  vec<T,4> get_gggg() const { return vec<T,4>(v[1],v[1],v[1],v[1]); } \
  __declspec(property(get=get_gggg)) vec<T,4> gggg; \
  vec<T,4> get_gggb() const { return vec<T,4>(v[1],v[1],v[1],v[2]); } \
  __declspec(property(get=get_gggb)) vec<T,4> gggb; \
  vec<T,4> get_ggbr() const { return vec<T,4>(v[1],v[1],v[2],v[0]); } \
  __declspec(property(get=get_ggbr)) vec<T,4> ggbr; \
  vec<T,4> get_ggbg() const { return vec<T,4>(v[1],v[1],v[2],v[1]); } \
  __declspec(property(get=get_ggbg)) vec<T,4> ggbg; \
  vec<T,4> get_ggbb() const { return vec<T,4>(v[1],v[1],v[2],v[2]); } \
  __declspec(property(get=get_ggbb)) vec<T,4> ggbb; \
  vec<T,4> get_gbrr() const { return vec<T,4>(v[1],v[2],v[0],v[0]); } \
  __declspec(property(get=get_gbrr)) vec<T,4> gbrr; \
  vec<T,4> get_gbrg() const { return vec<T,4>(v[1],v[2],v[0],v[1]); } \
  __declspec(property(get=get_gbrg)) vec<T,4> gbrg; \
  vec<T,4> get_gbrb() const { return vec<T,4>(v[1],v[2],v[0],v[2]); } \
  __declspec(property(get=get_gbrb)) vec<T,4> gbrb; \
  vec<T,4> get_gbgr() const { return vec<T,4>(v[1],v[2],v[1],v[0]); } \
  __declspec(property(get=get_gbgr)) vec<T,4> gbgr; \
  vec<T,4> get_gbgg() const { return vec<T,4>(v[1],v[2],v[1],v[1]); } \
  __declspec(property(get=get_gbgg)) vec<T,4> gbgg; \
  vec<T,4> get_gbgb() const { return vec<T,4>(v[1],v[2],v[1],v[2]); } \
  __declspec(property(get=get_gbgb)) vec<T,4> gbgb; \
  vec<T,4> get_gbbr() const { return vec<T,4>(v[1],v[2],v[2],v[0]); } \
  __declspec(property(get=get_gbbr)) vec<T,4> gbbr; \
  vec<T,4> get_gbbg() const { return vec<T,4>(v[1],v[2],v[2],v[1]); } \
  __declspec(property(get=get_gbbg)) vec<T,4> gbbg; \
  vec<T,4> get_gbbb() const { return vec<T,4>(v[1],v[2],v[2],v[2]); } \
  __declspec(property(get=get_gbbb)) vec<T,4> gbbb; \
  vec<T,4> get_brrr() const { return vec<T,4>(v[2],v[0],v[0],v[0]); } \
  __declspec(property(get=get_brrr)) vec<T,4> brrr; \
  vec<T,4> get_brrg() const { return vec<T,4>(v[2],v[0],v[0],v[1]); } \
  __declspec(property(get=get_brrg)) vec<T,4> brrg; \
  vec<T,4> get_brrb() const { return vec<T,4>(v[2],v[0],v[0],v[2]); } \
  __declspec(property(get=get_brrb)) vec<T,4> brrb; \
  vec<T,4> get_brgr() const { return vec<T,4>(v[2],v[0],v[1],v[0]); } \
  __declspec(property(get=get_brgr)) vec<T,4> brgr; \
  vec<T,4> get_brgg() const { return vec<T,4>(v[2],v[0],v[1],v[1]); } \
  __declspec(property(get=get_brgg)) vec<T,4> brgg; \
  vec<T,4> get_brgb() const { return vec<T,4>(v[2],v[0],v[1],v[2]); } \
  __declspec(property(get=get_brgb)) vec<T,4> brgb; \
  vec<T,4> get_brbr() const { return vec<T,4>(v[2],v[0],v[2],v[0]); } \
  __declspec(property(get=get_brbr)) vec<T,4> brbr; \
  vec<T,4> get_brbg() const { return vec<T,4>(v[2],v[0],v[2],v[1]); } \
  __declspec(property(get=get_brbg)) vec<T,4> brbg; \
  vec<T,4> get_brbb() const { return vec<T,4>(v[2],v[0],v[2],v[2]); } \
  __declspec(property(get=get_brbb)) vec<T,4> brbb; \
  vec<T,4> get_bgrr() const { return vec<T,4>(v[2],v[1],v[0],v[0]); } \
  __declspec(property(get=get_bgrr)) vec<T,4> bgrr; \
  vec<T,4> get_bgrg() const { return vec<T,4>(v[2],v[1],v[0],v[1]); } \
  __declspec(property(get=get_bgrg)) vec<T,4> bgrg; \
  vec<T,4> get_bgrb() const { return vec<T,4>(v[2],v[1],v[0],v[2]); } \
  __declspec(property(get=get_bgrb)) vec<T,4> bgrb; \
  vec<T,4> get_bggr() const { return vec<T,4>(v[2],v[1],v[1],v[0]); } \
  __declspec(property(get=get_bggr)) vec<T,4> bggr; \
  vec<T,4> get_bggg() const { return vec<T,4>(v[2],v[1],v[1],v[1]); } \
  __declspec(property(get=get_bggg)) vec<T,4> bggg; \
  vec<T,4> get_bggb() const { return vec<T,4>(v[2],v[1],v[1],v[2]); } \
  __declspec(property(get=get_bggb)) vec<T,4> bggb; \
  vec<T,4> get_bgbr() const { return vec<T,4>(v[2],v[1],v[2],v[0]); } \
  __declspec(property(get=get_bgbr)) vec<T,4> bgbr; \
  vec<T,4> get_bgbg() const { return vec<T,4>(v[2],v[1],v[2],v[1]); } \
  __declspec(property(get=get_bgbg)) vec<T,4> bgbg; \
  vec<T,4> get_bgbb() const { return vec<T,4>(v[2],v[1],v[2],v[2]); } \
  __declspec(property(get=get_bgbb)) vec<T,4> bgbb; \
  vec<T,4> get_bbrr() const { return vec<T,4>(v[2],v[2],v[0],v[0]); } \
  __declspec(property(get=get_bbrr)) vec<T,4> bbrr; \
  vec<T,4> get_bbrg() const { return vec<T,4>(v[2],v[2],v[0],v[1]); } \
  __declspec(property(get=get_bbrg)) vec<T,4> bbrg; \
  vec<T,4> get_bbrb() const { return vec<T,4>(v[2],v[2],v[0],v[2]); } \
  __declspec(property(get=get_bbrb)) vec<T,4> bbrb; \
  vec<T,4> get_bbgr() const { return vec<T,4>(v[2],v[2],v[1],v[0]); } \
  __declspec(property(get=get_bbgr)) vec<T,4> bbgr; \
  vec<T,4> get_bbgg() const { return vec<T,4>(v[2],v[2],v[1],v[1]); } \
  __declspec(property(get=get_bbgg)) vec<T,4> bbgg; \
  vec<T,4> get_bbgb() const { return vec<T,4>(v[2],v[2],v[1],v[2]); } \
  __declspec(property(get=get_bbgb)) vec<T,4> bbgb; \
  vec<T,4> get_bbbr() const { return vec<T,4>(v[2],v[2],v[2],v[0]); } \
  __declspec(property(get=get_bbbr)) vec<T,4> bbbr; \
  vec<T,4> get_bbbg() const { return vec<T,4>(v[2],v[2],v[2],v[1]); } \
  __declspec(property(get=get_bbbg)) vec<T,4> bbbg; \
  vec<T,4> get_bbbb() const { return vec<T,4>(v[2],v[2],v[2],v[2]); } \
  __declspec(property(get=get_bbbb)) vec<T,4> bbbb;
#define MSL_SWZ_4 \
  vec<T,2> get_xx() const { return vec<T,2>(v[0],v[0]); } \
  __declspec(property(get=get_xx)) vec<T,2> xx; \
  vec<T,2> get_xy() const { return vec<T,2>(v[0],v[1]); } \
  void put_xy(const vec<T,2>& o) { v[0]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_xy,put=put_xy)) vec<T,2> xy; \
  vec<T,2> get_xz() const { return vec<T,2>(v[0],v[2]); } \
  void put_xz(const vec<T,2>& o) { v[0]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_xz,put=put_xz)) vec<T,2> xz; \
  vec<T,2> get_xw() const { return vec<T,2>(v[0],v[3]); } \
  void put_xw(const vec<T,2>& o) { v[0]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_xw,put=put_xw)) vec<T,2> xw; \
  vec<T,2> get_yx() const { return vec<T,2>(v[1],v[0]); } \
  void put_yx(const vec<T,2>& o) { v[1]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_yx,put=put_yx)) vec<T,2> yx; \
  vec<T,2> get_yy() const { return vec<T,2>(v[1],v[1]); } \
  __declspec(property(get=get_yy)) vec<T,2> yy; \
  vec<T,2> get_yz() const { return vec<T,2>(v[1],v[2]); } \
  void put_yz(const vec<T,2>& o) { v[1]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_yz,put=put_yz)) vec<T,2> yz; \
  vec<T,2> get_yw() const { return vec<T,2>(v[1],v[3]); } \
  void put_yw(const vec<T,2>& o) { v[1]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_yw,put=put_yw)) vec<T,2> yw; \
  vec<T,2> get_zx() const { return vec<T,2>(v[2],v[0]); } \
  void put_zx(const vec<T,2>& o) { v[2]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_zx,put=put_zx)) vec<T,2> zx; \
  vec<T,2> get_zy() const { return vec<T,2>(v[2],v[1]); } \
  void put_zy(const vec<T,2>& o) { v[2]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_zy,put=put_zy)) vec<T,2> zy; \
  vec<T,2> get_zz() const { return vec<T,2>(v[2],v[2]); } \
  __declspec(property(get=get_zz)) vec<T,2> zz; \
  vec<T,2> get_zw() const { return vec<T,2>(v[2],v[3]); } \
  void put_zw(const vec<T,2>& o) { v[2]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_zw,put=put_zw)) vec<T,2> zw; \
  vec<T,2> get_wx() const { return vec<T,2>(v[3],v[0]); } \
  void put_wx(const vec<T,2>& o) { v[3]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_wx,put=put_wx)) vec<T,2> wx; \
  vec<T,2> get_wy() const { return vec<T,2>(v[3],v[1]); } \
  void put_wy(const vec<T,2>& o) { v[3]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_wy,put=put_wy)) vec<T,2> wy; \
  vec<T,2> get_wz() const { return vec<T,2>(v[3],v[2]); } \
  void put_wz(const vec<T,2>& o) { v[3]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_wz,put=put_wz)) vec<T,2> wz; \
  vec<T,2> get_ww() const { return vec<T,2>(v[3],v[3]); } \
  __declspec(property(get=get_ww)) vec<T,2> ww; \
  vec<T,3> get_xxx() const { return vec<T,3>(v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxx)) vec<T,3> xxx; \
  vec<T,3> get_xxy() const { return vec<T,3>(v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxy)) vec<T,3> xxy; \
  vec<T,3> get_xxz() const { return vec<T,3>(v[0],v[0],v[2]); } \
  __declspec(property(get=get_xxz)) vec<T,3> xxz; \
  vec<T,3> get_xxw() const { return vec<T,3>(v[0],v[0],v[3]); } \
  __declspec(property(get=get_xxw)) vec<T,3> xxw; \
  vec<T,3> get_xyx() const { return vec<T,3>(v[0],v[1],v[0]); } \
  __declspec(property(get=get_xyx)) vec<T,3> xyx; \
  vec<T,3> get_xyy() const { return vec<T,3>(v[0],v[1],v[1]); } \
  __declspec(property(get=get_xyy)) vec<T,3> xyy; \
  vec<T,3> get_xyz() const { return vec<T,3>(v[0],v[1],v[2]); } \
  void put_xyz(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_xyz,put=put_xyz)) vec<T,3> xyz; \
  vec<T,3> get_xyw() const { return vec<T,3>(v[0],v[1],v[3]); } \
  void put_xyw(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_xyw,put=put_xyw)) vec<T,3> xyw; \
  vec<T,3> get_xzx() const { return vec<T,3>(v[0],v[2],v[0]); } \
  __declspec(property(get=get_xzx)) vec<T,3> xzx; \
  vec<T,3> get_xzy() const { return vec<T,3>(v[0],v[2],v[1]); } \
  void put_xzy(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_xzy,put=put_xzy)) vec<T,3> xzy; \
  vec<T,3> get_xzz() const { return vec<T,3>(v[0],v[2],v[2]); } \
  __declspec(property(get=get_xzz)) vec<T,3> xzz; \
  vec<T,3> get_xzw() const { return vec<T,3>(v[0],v[2],v[3]); } \
  void put_xzw(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_xzw,put=put_xzw)) vec<T,3> xzw; \
  vec<T,3> get_xwx() const { return vec<T,3>(v[0],v[3],v[0]); } \
  __declspec(property(get=get_xwx)) vec<T,3> xwx; \
  vec<T,3> get_xwy() const { return vec<T,3>(v[0],v[3],v[1]); } \
  void put_xwy(const vec<T,3>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_xwy,put=put_xwy)) vec<T,3> xwy; \
  vec<T,3> get_xwz() const { return vec<T,3>(v[0],v[3],v[2]); } \
  void put_xwz(const vec<T,3>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_xwz,put=put_xwz)) vec<T,3> xwz; \
  vec<T,3> get_xww() const { return vec<T,3>(v[0],v[3],v[3]); } \
  __declspec(property(get=get_xww)) vec<T,3> xww; \
  vec<T,3> get_yxx() const { return vec<T,3>(v[1],v[0],v[0]); } \
  __declspec(property(get=get_yxx)) vec<T,3> yxx; \
  vec<T,3> get_yxy() const { return vec<T,3>(v[1],v[0],v[1]); } \
  __declspec(property(get=get_yxy)) vec<T,3> yxy; \
  vec<T,3> get_yxz() const { return vec<T,3>(v[1],v[0],v[2]); } \
  void put_yxz(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_yxz,put=put_yxz)) vec<T,3> yxz; \
  vec<T,3> get_yxw() const { return vec<T,3>(v[1],v[0],v[3]); } \
  void put_yxw(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_yxw,put=put_yxw)) vec<T,3> yxw; \
  vec<T,3> get_yyx() const { return vec<T,3>(v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyx)) vec<T,3> yyx; \
  vec<T,3> get_yyy() const { return vec<T,3>(v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyy)) vec<T,3> yyy; \
  vec<T,3> get_yyz() const { return vec<T,3>(v[1],v[1],v[2]); } \
  __declspec(property(get=get_yyz)) vec<T,3> yyz; \
  vec<T,3> get_yyw() const { return vec<T,3>(v[1],v[1],v[3]); } \
  __declspec(property(get=get_yyw)) vec<T,3> yyw; \
  vec<T,3> get_yzx() const { return vec<T,3>(v[1],v[2],v[0]); } \
  void put_yzx(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_yzx,put=put_yzx)) vec<T,3> yzx; \
  vec<T,3> get_yzy() const { return vec<T,3>(v[1],v[2],v[1]); } \
  __declspec(property(get=get_yzy)) vec<T,3> yzy; \
  vec<T,3> get_yzz() const { return vec<T,3>(v[1],v[2],v[2]); } \
  __declspec(property(get=get_yzz)) vec<T,3> yzz; \
  vec<T,3> get_yzw() const { return vec<T,3>(v[1],v[2],v[3]); } \
  void put_yzw(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_yzw,put=put_yzw)) vec<T,3> yzw; \
  vec<T,3> get_ywx() const { return vec<T,3>(v[1],v[3],v[0]); } \
  void put_ywx(const vec<T,3>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_ywx,put=put_ywx)) vec<T,3> ywx; \
  vec<T,3> get_ywy() const { return vec<T,3>(v[1],v[3],v[1]); } \
  __declspec(property(get=get_ywy)) vec<T,3> ywy; \
  vec<T,3> get_ywz() const { return vec<T,3>(v[1],v[3],v[2]); } \
  void put_ywz(const vec<T,3>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_ywz,put=put_ywz)) vec<T,3> ywz; \
  vec<T,3> get_yww() const { return vec<T,3>(v[1],v[3],v[3]); } \
  __declspec(property(get=get_yww)) vec<T,3> yww; \
  vec<T,3> get_zxx() const { return vec<T,3>(v[2],v[0],v[0]); } \
  __declspec(property(get=get_zxx)) vec<T,3> zxx; \
  vec<T,3> get_zxy() const { return vec<T,3>(v[2],v[0],v[1]); } \
  void put_zxy(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_zxy,put=put_zxy)) vec<T,3> zxy; \
  vec<T,3> get_zxz() const { return vec<T,3>(v[2],v[0],v[2]); } \
  __declspec(property(get=get_zxz)) vec<T,3> zxz; \
  vec<T,3> get_zxw() const { return vec<T,3>(v[2],v[0],v[3]); } \
  void put_zxw(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_zxw,put=put_zxw)) vec<T,3> zxw; \
  vec<T,3> get_zyx() const { return vec<T,3>(v[2],v[1],v[0]); } \
  void put_zyx(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_zyx,put=put_zyx)) vec<T,3> zyx; \
  vec<T,3> get_zyy() const { return vec<T,3>(v[2],v[1],v[1]); } \
  __declspec(property(get=get_zyy)) vec<T,3> zyy; \
  vec<T,3> get_zyz() const { return vec<T,3>(v[2],v[1],v[2]); } \
  __declspec(property(get=get_zyz)) vec<T,3> zyz; \
  vec<T,3> get_zyw() const { return vec<T,3>(v[2],v[1],v[3]); } \
  void put_zyw(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_zyw,put=put_zyw)) vec<T,3> zyw; \
  vec<T,3> get_zzx() const { return vec<T,3>(v[2],v[2],v[0]); } \
  __declspec(property(get=get_zzx)) vec<T,3> zzx; \
  vec<T,3> get_zzy() const { return vec<T,3>(v[2],v[2],v[1]); } \
  __declspec(property(get=get_zzy)) vec<T,3> zzy; \
  vec<T,3> get_zzz() const { return vec<T,3>(v[2],v[2],v[2]); } \
  __declspec(property(get=get_zzz)) vec<T,3> zzz; \
  vec<T,3> get_zzw() const { return vec<T,3>(v[2],v[2],v[3]); } \
  __declspec(property(get=get_zzw)) vec<T,3> zzw; \
  vec<T,3> get_zwx() const { return vec<T,3>(v[2],v[3],v[0]); } \
  void put_zwx(const vec<T,3>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_zwx,put=put_zwx)) vec<T,3> zwx; \
  vec<T,3> get_zwy() const { return vec<T,3>(v[2],v[3],v[1]); } \
  void put_zwy(const vec<T,3>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_zwy,put=put_zwy)) vec<T,3> zwy; \
  vec<T,3> get_zwz() const { return vec<T,3>(v[2],v[3],v[2]); } \
  __declspec(property(get=get_zwz)) vec<T,3> zwz; \
  vec<T,3> get_zww() const { return vec<T,3>(v[2],v[3],v[3]); } \
  __declspec(property(get=get_zww)) vec<T,3> zww; \
  vec<T,3> get_wxx() const { return vec<T,3>(v[3],v[0],v[0]); } \
  __declspec(property(get=get_wxx)) vec<T,3> wxx; \
  vec<T,3> get_wxy() const { return vec<T,3>(v[3],v[0],v[1]); } \
  void put_wxy(const vec<T,3>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_wxy,put=put_wxy)) vec<T,3> wxy; \
  vec<T,3> get_wxz() const { return vec<T,3>(v[3],v[0],v[2]); } \
  void put_wxz(const vec<T,3>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_wxz,put=put_wxz)) vec<T,3> wxz; \
  vec<T,3> get_wxw() const { return vec<T,3>(v[3],v[0],v[3]); } \
  __declspec(property(get=get_wxw)) vec<T,3> wxw; \
  vec<T,3> get_wyx() const { return vec<T,3>(v[3],v[1],v[0]); } \
  void put_wyx(const vec<T,3>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_wyx,put=put_wyx)) vec<T,3> wyx; \
  vec<T,3> get_wyy() const { return vec<T,3>(v[3],v[1],v[1]); } \
  __declspec(property(get=get_wyy)) vec<T,3> wyy; \
  vec<T,3> get_wyz() const { return vec<T,3>(v[3],v[1],v[2]); } \
  void put_wyz(const vec<T,3>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_wyz,put=put_wyz)) vec<T,3> wyz; \
  vec<T,3> get_wyw() const { return vec<T,3>(v[3],v[1],v[3]); } \
  __declspec(property(get=get_wyw)) vec<T,3> wyw; \
  vec<T,3> get_wzx() const { return vec<T,3>(v[3],v[2],v[0]); } \
  void put_wzx(const vec<T,3>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_wzx,put=put_wzx)) vec<T,3> wzx; \
  vec<T,3> get_wzy() const { return vec<T,3>(v[3],v[2],v[1]); } \
  void put_wzy(const vec<T,3>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_wzy,put=put_wzy)) vec<T,3> wzy; \
  vec<T,3> get_wzz() const { return vec<T,3>(v[3],v[2],v[2]); } \
  __declspec(property(get=get_wzz)) vec<T,3> wzz; \
  vec<T,3> get_wzw() const { return vec<T,3>(v[3],v[2],v[3]); } \
  __declspec(property(get=get_wzw)) vec<T,3> wzw; \
  vec<T,3> get_wwx() const { return vec<T,3>(v[3],v[3],v[0]); } \
  __declspec(property(get=get_wwx)) vec<T,3> wwx; \
  vec<T,3> get_wwy() const { return vec<T,3>(v[3],v[3],v[1]); } \
  __declspec(property(get=get_wwy)) vec<T,3> wwy; \
  vec<T,3> get_wwz() const { return vec<T,3>(v[3],v[3],v[2]); } \
  __declspec(property(get=get_wwz)) vec<T,3> wwz; \
  vec<T,3> get_www() const { return vec<T,3>(v[3],v[3],v[3]); } \
  __declspec(property(get=get_www)) vec<T,3> www; \
  vec<T,4> get_xxxx() const { return vec<T,4>(v[0],v[0],v[0],v[0]); } \
  __declspec(property(get=get_xxxx)) vec<T,4> xxxx; \
  vec<T,4> get_xxxy() const { return vec<T,4>(v[0],v[0],v[0],v[1]); } \
  __declspec(property(get=get_xxxy)) vec<T,4> xxxy; \
  vec<T,4> get_xxxz() const { return vec<T,4>(v[0],v[0],v[0],v[2]); } \
  __declspec(property(get=get_xxxz)) vec<T,4> xxxz; \
  vec<T,4> get_xxxw() const { return vec<T,4>(v[0],v[0],v[0],v[3]); } \
  __declspec(property(get=get_xxxw)) vec<T,4> xxxw; \
  vec<T,4> get_xxyx() const { return vec<T,4>(v[0],v[0],v[1],v[0]); } \
  __declspec(property(get=get_xxyx)) vec<T,4> xxyx; \
  vec<T,4> get_xxyy() const { return vec<T,4>(v[0],v[0],v[1],v[1]); } \
  __declspec(property(get=get_xxyy)) vec<T,4> xxyy; \
  vec<T,4> get_xxyz() const { return vec<T,4>(v[0],v[0],v[1],v[2]); } \
  __declspec(property(get=get_xxyz)) vec<T,4> xxyz; \
  vec<T,4> get_xxyw() const { return vec<T,4>(v[0],v[0],v[1],v[3]); } \
  __declspec(property(get=get_xxyw)) vec<T,4> xxyw; \
  vec<T,4> get_xxzx() const { return vec<T,4>(v[0],v[0],v[2],v[0]); } \
  __declspec(property(get=get_xxzx)) vec<T,4> xxzx; \
  vec<T,4> get_xxzy() const { return vec<T,4>(v[0],v[0],v[2],v[1]); } \
  __declspec(property(get=get_xxzy)) vec<T,4> xxzy; \
  vec<T,4> get_xxzz() const { return vec<T,4>(v[0],v[0],v[2],v[2]); } \
  __declspec(property(get=get_xxzz)) vec<T,4> xxzz; \
  vec<T,4> get_xxzw() const { return vec<T,4>(v[0],v[0],v[2],v[3]); } \
  __declspec(property(get=get_xxzw)) vec<T,4> xxzw; \
  vec<T,4> get_xxwx() const { return vec<T,4>(v[0],v[0],v[3],v[0]); } \
  __declspec(property(get=get_xxwx)) vec<T,4> xxwx; \
  vec<T,4> get_xxwy() const { return vec<T,4>(v[0],v[0],v[3],v[1]); } \
  __declspec(property(get=get_xxwy)) vec<T,4> xxwy; \
  vec<T,4> get_xxwz() const { return vec<T,4>(v[0],v[0],v[3],v[2]); } \
  __declspec(property(get=get_xxwz)) vec<T,4> xxwz; \
  vec<T,4> get_xxww() const { return vec<T,4>(v[0],v[0],v[3],v[3]); } \
  __declspec(property(get=get_xxww)) vec<T,4> xxww; \
  vec<T,4> get_xyxx() const { return vec<T,4>(v[0],v[1],v[0],v[0]); } \
  __declspec(property(get=get_xyxx)) vec<T,4> xyxx; \
  vec<T,4> get_xyxy() const { return vec<T,4>(v[0],v[1],v[0],v[1]); } \
  __declspec(property(get=get_xyxy)) vec<T,4> xyxy; \
  vec<T,4> get_xyxz() const { return vec<T,4>(v[0],v[1],v[0],v[2]); } \
  __declspec(property(get=get_xyxz)) vec<T,4> xyxz; \
  vec<T,4> get_xyxw() const { return vec<T,4>(v[0],v[1],v[0],v[3]); } \
  __declspec(property(get=get_xyxw)) vec<T,4> xyxw; \
  vec<T,4> get_xyyx() const { return vec<T,4>(v[0],v[1],v[1],v[0]); } \
  __declspec(property(get=get_xyyx)) vec<T,4> xyyx; \
  vec<T,4> get_xyyy() const { return vec<T,4>(v[0],v[1],v[1],v[1]); } \
  __declspec(property(get=get_xyyy)) vec<T,4> xyyy; \
  vec<T,4> get_xyyz() const { return vec<T,4>(v[0],v[1],v[1],v[2]); } \
  __declspec(property(get=get_xyyz)) vec<T,4> xyyz; \
  vec<T,4> get_xyyw() const { return vec<T,4>(v[0],v[1],v[1],v[3]); } \
  __declspec(property(get=get_xyyw)) vec<T,4> xyyw; \
  vec<T,4> get_xyzx() const { return vec<T,4>(v[0],v[1],v[2],v[0]); } \
  __declspec(property(get=get_xyzx)) vec<T,4> xyzx; \
  vec<T,4> get_xyzy() const { return vec<T,4>(v[0],v[1],v[2],v[1]); } \
  __declspec(property(get=get_xyzy)) vec<T,4> xyzy; \
  vec<T,4> get_xyzz() const { return vec<T,4>(v[0],v[1],v[2],v[2]); } \
  __declspec(property(get=get_xyzz)) vec<T,4> xyzz; \
  vec<T,4> get_xyzw() const { return vec<T,4>(v[0],v[1],v[2],v[3]); } \
  void put_xyzw(const vec<T,4>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_xyzw,put=put_xyzw)) vec<T,4> xyzw; \
  vec<T,4> get_xywx() const { return vec<T,4>(v[0],v[1],v[3],v[0]); } \
  __declspec(property(get=get_xywx)) vec<T,4> xywx; \
  vec<T,4> get_xywy() const { return vec<T,4>(v[0],v[1],v[3],v[1]); } \
  __declspec(property(get=get_xywy)) vec<T,4> xywy; \
  vec<T,4> get_xywz() const { return vec<T,4>(v[0],v[1],v[3],v[2]); } \
  void put_xywz(const vec<T,4>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_xywz,put=put_xywz)) vec<T,4> xywz; \
  vec<T,4> get_xyww() const { return vec<T,4>(v[0],v[1],v[3],v[3]); } \
  __declspec(property(get=get_xyww)) vec<T,4> xyww; \
  vec<T,4> get_xzxx() const { return vec<T,4>(v[0],v[2],v[0],v[0]); } \
  __declspec(property(get=get_xzxx)) vec<T,4> xzxx; \
  vec<T,4> get_xzxy() const { return vec<T,4>(v[0],v[2],v[0],v[1]); } \
  __declspec(property(get=get_xzxy)) vec<T,4> xzxy; \
  vec<T,4> get_xzxz() const { return vec<T,4>(v[0],v[2],v[0],v[2]); } \
  __declspec(property(get=get_xzxz)) vec<T,4> xzxz; \
  vec<T,4> get_xzxw() const { return vec<T,4>(v[0],v[2],v[0],v[3]); } \
  __declspec(property(get=get_xzxw)) vec<T,4> xzxw; \
  vec<T,4> get_xzyx() const { return vec<T,4>(v[0],v[2],v[1],v[0]); } \
  __declspec(property(get=get_xzyx)) vec<T,4> xzyx; \
  vec<T,4> get_xzyy() const { return vec<T,4>(v[0],v[2],v[1],v[1]); } \
  __declspec(property(get=get_xzyy)) vec<T,4> xzyy; \
  vec<T,4> get_xzyz() const { return vec<T,4>(v[0],v[2],v[1],v[2]); } \
  __declspec(property(get=get_xzyz)) vec<T,4> xzyz; \
  vec<T,4> get_xzyw() const { return vec<T,4>(v[0],v[2],v[1],v[3]); } \
  void put_xzyw(const vec<T,4>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_xzyw,put=put_xzyw)) vec<T,4> xzyw; \
  vec<T,4> get_xzzx() const { return vec<T,4>(v[0],v[2],v[2],v[0]); } \
  __declspec(property(get=get_xzzx)) vec<T,4> xzzx; \
  vec<T,4> get_xzzy() const { return vec<T,4>(v[0],v[2],v[2],v[1]); } \
  __declspec(property(get=get_xzzy)) vec<T,4> xzzy; \
  vec<T,4> get_xzzz() const { return vec<T,4>(v[0],v[2],v[2],v[2]); } \
  __declspec(property(get=get_xzzz)) vec<T,4> xzzz; \
  vec<T,4> get_xzzw() const { return vec<T,4>(v[0],v[2],v[2],v[3]); } \
  __declspec(property(get=get_xzzw)) vec<T,4> xzzw; \
  vec<T,4> get_xzwx() const { return vec<T,4>(v[0],v[2],v[3],v[0]); } \
  __declspec(property(get=get_xzwx)) vec<T,4> xzwx; \
  vec<T,4> get_xzwy() const { return vec<T,4>(v[0],v[2],v[3],v[1]); } \
  void put_xzwy(const vec<T,4>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_xzwy,put=put_xzwy)) vec<T,4> xzwy; \
  vec<T,4> get_xzwz() const { return vec<T,4>(v[0],v[2],v[3],v[2]); } \
  __declspec(property(get=get_xzwz)) vec<T,4> xzwz; \
  vec<T,4> get_xzww() const { return vec<T,4>(v[0],v[2],v[3],v[3]); } \
  __declspec(property(get=get_xzww)) vec<T,4> xzww; \
  vec<T,4> get_xwxx() const { return vec<T,4>(v[0],v[3],v[0],v[0]); } \
  __declspec(property(get=get_xwxx)) vec<T,4> xwxx; \
  vec<T,4> get_xwxy() const { return vec<T,4>(v[0],v[3],v[0],v[1]); } \
  __declspec(property(get=get_xwxy)) vec<T,4> xwxy; \
  vec<T,4> get_xwxz() const { return vec<T,4>(v[0],v[3],v[0],v[2]); } \
  __declspec(property(get=get_xwxz)) vec<T,4> xwxz; \
  vec<T,4> get_xwxw() const { return vec<T,4>(v[0],v[3],v[0],v[3]); } \
  __declspec(property(get=get_xwxw)) vec<T,4> xwxw; \
  vec<T,4> get_xwyx() const { return vec<T,4>(v[0],v[3],v[1],v[0]); } \
  __declspec(property(get=get_xwyx)) vec<T,4> xwyx; \
  vec<T,4> get_xwyy() const { return vec<T,4>(v[0],v[3],v[1],v[1]); } \
  __declspec(property(get=get_xwyy)) vec<T,4> xwyy; \
  vec<T,4> get_xwyz() const { return vec<T,4>(v[0],v[3],v[1],v[2]); } \
  void put_xwyz(const vec<T,4>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_xwyz,put=put_xwyz)) vec<T,4> xwyz; \
  vec<T,4> get_xwyw() const { return vec<T,4>(v[0],v[3],v[1],v[3]); } \
  __declspec(property(get=get_xwyw)) vec<T,4> xwyw; \
  vec<T,4> get_xwzx() const { return vec<T,4>(v[0],v[3],v[2],v[0]); } \
  __declspec(property(get=get_xwzx)) vec<T,4> xwzx; \
  vec<T,4> get_xwzy() const { return vec<T,4>(v[0],v[3],v[2],v[1]); } \
  void put_xwzy(const vec<T,4>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_xwzy,put=put_xwzy)) vec<T,4> xwzy; \
  vec<T,4> get_xwzz() const { return vec<T,4>(v[0],v[3],v[2],v[2]); } \
  __declspec(property(get=get_xwzz)) vec<T,4> xwzz; \
  vec<T,4> get_xwzw() const { return vec<T,4>(v[0],v[3],v[2],v[3]); } \
  __declspec(property(get=get_xwzw)) vec<T,4> xwzw; \
  vec<T,4> get_xwwx() const { return vec<T,4>(v[0],v[3],v[3],v[0]); } \
  __declspec(property(get=get_xwwx)) vec<T,4> xwwx; \
  vec<T,4> get_xwwy() const { return vec<T,4>(v[0],v[3],v[3],v[1]); } \
  __declspec(property(get=get_xwwy)) vec<T,4> xwwy; \
  vec<T,4> get_xwwz() const { return vec<T,4>(v[0],v[3],v[3],v[2]); } \
  __declspec(property(get=get_xwwz)) vec<T,4> xwwz; \
  vec<T,4> get_xwww() const { return vec<T,4>(v[0],v[3],v[3],v[3]); } \
  __declspec(property(get=get_xwww)) vec<T,4> xwww; \
  vec<T,4> get_yxxx() const { return vec<T,4>(v[1],v[0],v[0],v[0]); } \
  __declspec(property(get=get_yxxx)) vec<T,4> yxxx; \
  vec<T,4> get_yxxy() const { return vec<T,4>(v[1],v[0],v[0],v[1]); } \
  __declspec(property(get=get_yxxy)) vec<T,4> yxxy; \
  vec<T,4> get_yxxz() const { return vec<T,4>(v[1],v[0],v[0],v[2]); } \
  __declspec(property(get=get_yxxz)) vec<T,4> yxxz; \
  vec<T,4> get_yxxw() const { return vec<T,4>(v[1],v[0],v[0],v[3]); } \
  __declspec(property(get=get_yxxw)) vec<T,4> yxxw; \
  vec<T,4> get_yxyx() const { return vec<T,4>(v[1],v[0],v[1],v[0]); } \
  __declspec(property(get=get_yxyx)) vec<T,4> yxyx; \
  vec<T,4> get_yxyy() const { return vec<T,4>(v[1],v[0],v[1],v[1]); } \
  __declspec(property(get=get_yxyy)) vec<T,4> yxyy; \
  vec<T,4> get_yxyz() const { return vec<T,4>(v[1],v[0],v[1],v[2]); } \
  __declspec(property(get=get_yxyz)) vec<T,4> yxyz; \
  vec<T,4> get_yxyw() const { return vec<T,4>(v[1],v[0],v[1],v[3]); } \
  __declspec(property(get=get_yxyw)) vec<T,4> yxyw; \
  vec<T,4> get_yxzx() const { return vec<T,4>(v[1],v[0],v[2],v[0]); } \
  __declspec(property(get=get_yxzx)) vec<T,4> yxzx; \
  vec<T,4> get_yxzy() const { return vec<T,4>(v[1],v[0],v[2],v[1]); } \
  __declspec(property(get=get_yxzy)) vec<T,4> yxzy; \
  vec<T,4> get_yxzz() const { return vec<T,4>(v[1],v[0],v[2],v[2]); } \
  __declspec(property(get=get_yxzz)) vec<T,4> yxzz; \
  vec<T,4> get_yxzw() const { return vec<T,4>(v[1],v[0],v[2],v[3]); } \
  void put_yxzw(const vec<T,4>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_yxzw,put=put_yxzw)) vec<T,4> yxzw; \
  vec<T,4> get_yxwx() const { return vec<T,4>(v[1],v[0],v[3],v[0]); } \
  __declspec(property(get=get_yxwx)) vec<T,4> yxwx; \
  vec<T,4> get_yxwy() const { return vec<T,4>(v[1],v[0],v[3],v[1]); } \
  __declspec(property(get=get_yxwy)) vec<T,4> yxwy; \
  vec<T,4> get_yxwz() const { return vec<T,4>(v[1],v[0],v[3],v[2]); } \
  void put_yxwz(const vec<T,4>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_yxwz,put=put_yxwz)) vec<T,4> yxwz; \
  vec<T,4> get_yxww() const { return vec<T,4>(v[1],v[0],v[3],v[3]); } \
  __declspec(property(get=get_yxww)) vec<T,4> yxww; \
  vec<T,4> get_yyxx() const { return vec<T,4>(v[1],v[1],v[0],v[0]); } \
  __declspec(property(get=get_yyxx)) vec<T,4> yyxx; \
  vec<T,4> get_yyxy() const { return vec<T,4>(v[1],v[1],v[0],v[1]); } \
  __declspec(property(get=get_yyxy)) vec<T,4> yyxy; \
  vec<T,4> get_yyxz() const { return vec<T,4>(v[1],v[1],v[0],v[2]); } \
  __declspec(property(get=get_yyxz)) vec<T,4> yyxz; \
  vec<T,4> get_yyxw() const { return vec<T,4>(v[1],v[1],v[0],v[3]); } \
  __declspec(property(get=get_yyxw)) vec<T,4> yyxw; \
  vec<T,4> get_yyyx() const { return vec<T,4>(v[1],v[1],v[1],v[0]); } \
  __declspec(property(get=get_yyyx)) vec<T,4> yyyx; \
  vec<T,4> get_yyyy() const { return vec<T,4>(v[1],v[1],v[1],v[1]); } \
  __declspec(property(get=get_yyyy)) vec<T,4> yyyy; \
  vec<T,4> get_yyyz() const { return vec<T,4>(v[1],v[1],v[1],v[2]); } \
  __declspec(property(get=get_yyyz)) vec<T,4> yyyz; \
  vec<T,4> get_yyyw() const { return vec<T,4>(v[1],v[1],v[1],v[3]); } \
  __declspec(property(get=get_yyyw)) vec<T,4> yyyw; \
  vec<T,4> get_yyzx() const { return vec<T,4>(v[1],v[1],v[2],v[0]); } \
  __declspec(property(get=get_yyzx)) vec<T,4> yyzx; \
  vec<T,4> get_yyzy() const { return vec<T,4>(v[1],v[1],v[2],v[1]); } \
  __declspec(property(get=get_yyzy)) vec<T,4> yyzy; \
  vec<T,4> get_yyzz() const { return vec<T,4>(v[1],v[1],v[2],v[2]); } \
  __declspec(property(get=get_yyzz)) vec<T,4> yyzz; \
  vec<T,4> get_yyzw() const { return vec<T,4>(v[1],v[1],v[2],v[3]); } \
  __declspec(property(get=get_yyzw)) vec<T,4> yyzw; \
  vec<T,4> get_yywx() const { return vec<T,4>(v[1],v[1],v[3],v[0]); } \
  __declspec(property(get=get_yywx)) vec<T,4> yywx; \
  vec<T,4> get_yywy() const { return vec<T,4>(v[1],v[1],v[3],v[1]); } \
  __declspec(property(get=get_yywy)) vec<T,4> yywy; \
  vec<T,4> get_yywz() const { return vec<T,4>(v[1],v[1],v[3],v[2]); } \
  __declspec(property(get=get_yywz)) vec<T,4> yywz; \
  vec<T,4> get_yyww() const { return vec<T,4>(v[1],v[1],v[3],v[3]); } \
  __declspec(property(get=get_yyww)) vec<T,4> yyww; \
  vec<T,4> get_yzxx() const { return vec<T,4>(v[1],v[2],v[0],v[0]); } \
  __declspec(property(get=get_yzxx)) vec<T,4> yzxx; \
  vec<T,4> get_yzxy() const { return vec<T,4>(v[1],v[2],v[0],v[1]); } \
  __declspec(property(get=get_yzxy)) vec<T,4> yzxy; \
  vec<T,4> get_yzxz() const { return vec<T,4>(v[1],v[2],v[0],v[2]); } \
  __declspec(property(get=get_yzxz)) vec<T,4> yzxz; \
  vec<T,4> get_yzxw() const { return vec<T,4>(v[1],v[2],v[0],v[3]); } \
  void put_yzxw(const vec<T,4>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_yzxw,put=put_yzxw)) vec<T,4> yzxw; \
  vec<T,4> get_yzyx() const { return vec<T,4>(v[1],v[2],v[1],v[0]); } \
  __declspec(property(get=get_yzyx)) vec<T,4> yzyx; \
  vec<T,4> get_yzyy() const { return vec<T,4>(v[1],v[2],v[1],v[1]); } \
  __declspec(property(get=get_yzyy)) vec<T,4> yzyy; \
  vec<T,4> get_yzyz() const { return vec<T,4>(v[1],v[2],v[1],v[2]); } \
  __declspec(property(get=get_yzyz)) vec<T,4> yzyz; \
  vec<T,4> get_yzyw() const { return vec<T,4>(v[1],v[2],v[1],v[3]); } \
  __declspec(property(get=get_yzyw)) vec<T,4> yzyw; \
  vec<T,4> get_yzzx() const { return vec<T,4>(v[1],v[2],v[2],v[0]); } \
  __declspec(property(get=get_yzzx)) vec<T,4> yzzx; \
  vec<T,4> get_yzzy() const { return vec<T,4>(v[1],v[2],v[2],v[1]); } \
  __declspec(property(get=get_yzzy)) vec<T,4> yzzy; \
  vec<T,4> get_yzzz() const { return vec<T,4>(v[1],v[2],v[2],v[2]); } \
  __declspec(property(get=get_yzzz)) vec<T,4> yzzz; \
  vec<T,4> get_yzzw() const { return vec<T,4>(v[1],v[2],v[2],v[3]); } \
  __declspec(property(get=get_yzzw)) vec<T,4> yzzw; \
  vec<T,4> get_yzwx() const { return vec<T,4>(v[1],v[2],v[3],v[0]); } \
  void put_yzwx(const vec<T,4>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_yzwx,put=put_yzwx)) vec<T,4> yzwx; \
  vec<T,4> get_yzwy() const { return vec<T,4>(v[1],v[2],v[3],v[1]); } \
  __declspec(property(get=get_yzwy)) vec<T,4> yzwy; \
  vec<T,4> get_yzwz() const { return vec<T,4>(v[1],v[2],v[3],v[2]); } \
  __declspec(property(get=get_yzwz)) vec<T,4> yzwz; \
  vec<T,4> get_yzww() const { return vec<T,4>(v[1],v[2],v[3],v[3]); } \
  __declspec(property(get=get_yzww)) vec<T,4> yzww; \
  vec<T,4> get_ywxx() const { return vec<T,4>(v[1],v[3],v[0],v[0]); } \
  __declspec(property(get=get_ywxx)) vec<T,4> ywxx; \
  vec<T,4> get_ywxy() const { return vec<T,4>(v[1],v[3],v[0],v[1]); } \
  __declspec(property(get=get_ywxy)) vec<T,4> ywxy; \
  vec<T,4> get_ywxz() const { return vec<T,4>(v[1],v[3],v[0],v[2]); } \
  void put_ywxz(const vec<T,4>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_ywxz,put=put_ywxz)) vec<T,4> ywxz; \
  vec<T,4> get_ywxw() const { return vec<T,4>(v[1],v[3],v[0],v[3]); } \
  __declspec(property(get=get_ywxw)) vec<T,4> ywxw; \
  vec<T,4> get_ywyx() const { return vec<T,4>(v[1],v[3],v[1],v[0]); } \
  __declspec(property(get=get_ywyx)) vec<T,4> ywyx; \
  vec<T,4> get_ywyy() const { return vec<T,4>(v[1],v[3],v[1],v[1]); } \
  __declspec(property(get=get_ywyy)) vec<T,4> ywyy; \
  vec<T,4> get_ywyz() const { return vec<T,4>(v[1],v[3],v[1],v[2]); } \
  __declspec(property(get=get_ywyz)) vec<T,4> ywyz; \
  vec<T,4> get_ywyw() const { return vec<T,4>(v[1],v[3],v[1],v[3]); } \
  __declspec(property(get=get_ywyw)) vec<T,4> ywyw; \
  vec<T,4> get_ywzx() const { return vec<T,4>(v[1],v[3],v[2],v[0]); } \
  void put_ywzx(const vec<T,4>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_ywzx,put=put_ywzx)) vec<T,4> ywzx; \
  vec<T,4> get_ywzy() const { return vec<T,4>(v[1],v[3],v[2],v[1]); } \
  __declspec(property(get=get_ywzy)) vec<T,4> ywzy; \
  vec<T,4> get_ywzz() const { return vec<T,4>(v[1],v[3],v[2],v[2]); } \
  __declspec(property(get=get_ywzz)) vec<T,4> ywzz; \
  vec<T,4> get_ywzw() const { return vec<T,4>(v[1],v[3],v[2],v[3]); } \
  __declspec(property(get=get_ywzw)) vec<T,4> ywzw; \
  vec<T,4> get_ywwx() const { return vec<T,4>(v[1],v[3],v[3],v[0]); } \
  __declspec(property(get=get_ywwx)) vec<T,4> ywwx; \
  vec<T,4> get_ywwy() const { return vec<T,4>(v[1],v[3],v[3],v[1]); } \
  __declspec(property(get=get_ywwy)) vec<T,4> ywwy; \
  vec<T,4> get_ywwz() const { return vec<T,4>(v[1],v[3],v[3],v[2]); } \
  __declspec(property(get=get_ywwz)) vec<T,4> ywwz; \
  vec<T,4> get_ywww() const { return vec<T,4>(v[1],v[3],v[3],v[3]); } \
  __declspec(property(get=get_ywww)) vec<T,4> ywww; \
  vec<T,4> get_zxxx() const { return vec<T,4>(v[2],v[0],v[0],v[0]); } \
  __declspec(property(get=get_zxxx)) vec<T,4> zxxx; \
  vec<T,4> get_zxxy() const { return vec<T,4>(v[2],v[0],v[0],v[1]); } \
  __declspec(property(get=get_zxxy)) vec<T,4> zxxy; \
  vec<T,4> get_zxxz() const { return vec<T,4>(v[2],v[0],v[0],v[2]); } \
  __declspec(property(get=get_zxxz)) vec<T,4> zxxz; \
  vec<T,4> get_zxxw() const { return vec<T,4>(v[2],v[0],v[0],v[3]); } \
  __declspec(property(get=get_zxxw)) vec<T,4> zxxw; \
  vec<T,4> get_zxyx() const { return vec<T,4>(v[2],v[0],v[1],v[0]); } \
  __declspec(property(get=get_zxyx)) vec<T,4> zxyx; \
  vec<T,4> get_zxyy() const { return vec<T,4>(v[2],v[0],v[1],v[1]); } \
  __declspec(property(get=get_zxyy)) vec<T,4> zxyy; \
  vec<T,4> get_zxyz() const { return vec<T,4>(v[2],v[0],v[1],v[2]); } \
  __declspec(property(get=get_zxyz)) vec<T,4> zxyz; \
  vec<T,4> get_zxyw() const { return vec<T,4>(v[2],v[0],v[1],v[3]); } \
  void put_zxyw(const vec<T,4>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_zxyw,put=put_zxyw)) vec<T,4> zxyw; \
  vec<T,4> get_zxzx() const { return vec<T,4>(v[2],v[0],v[2],v[0]); } \
  __declspec(property(get=get_zxzx)) vec<T,4> zxzx; \
  vec<T,4> get_zxzy() const { return vec<T,4>(v[2],v[0],v[2],v[1]); } \
  __declspec(property(get=get_zxzy)) vec<T,4> zxzy; \
  vec<T,4> get_zxzz() const { return vec<T,4>(v[2],v[0],v[2],v[2]); } \
  __declspec(property(get=get_zxzz)) vec<T,4> zxzz; \
  vec<T,4> get_zxzw() const { return vec<T,4>(v[2],v[0],v[2],v[3]); } \
  __declspec(property(get=get_zxzw)) vec<T,4> zxzw; \
  vec<T,4> get_zxwx() const { return vec<T,4>(v[2],v[0],v[3],v[0]); } \
  __declspec(property(get=get_zxwx)) vec<T,4> zxwx; \
  vec<T,4> get_zxwy() const { return vec<T,4>(v[2],v[0],v[3],v[1]); } \
  void put_zxwy(const vec<T,4>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_zxwy,put=put_zxwy)) vec<T,4> zxwy; \
  vec<T,4> get_zxwz() const { return vec<T,4>(v[2],v[0],v[3],v[2]); } \
  __declspec(property(get=get_zxwz)) vec<T,4> zxwz; \
  vec<T,4> get_zxww() const { return vec<T,4>(v[2],v[0],v[3],v[3]); } \
  __declspec(property(get=get_zxww)) vec<T,4> zxww; \
  vec<T,4> get_zyxx() const { return vec<T,4>(v[2],v[1],v[0],v[0]); } \
  __declspec(property(get=get_zyxx)) vec<T,4> zyxx; \
  vec<T,4> get_zyxy() const { return vec<T,4>(v[2],v[1],v[0],v[1]); } \
  __declspec(property(get=get_zyxy)) vec<T,4> zyxy; \
  vec<T,4> get_zyxz() const { return vec<T,4>(v[2],v[1],v[0],v[2]); } \
  __declspec(property(get=get_zyxz)) vec<T,4> zyxz; \
  vec<T,4> get_zyxw() const { return vec<T,4>(v[2],v[1],v[0],v[3]); } \
  void put_zyxw(const vec<T,4>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_zyxw,put=put_zyxw)) vec<T,4> zyxw; \
  vec<T,4> get_zyyx() const { return vec<T,4>(v[2],v[1],v[1],v[0]); } \
  __declspec(property(get=get_zyyx)) vec<T,4> zyyx; \
  vec<T,4> get_zyyy() const { return vec<T,4>(v[2],v[1],v[1],v[1]); } \
  __declspec(property(get=get_zyyy)) vec<T,4> zyyy; \
  vec<T,4> get_zyyz() const { return vec<T,4>(v[2],v[1],v[1],v[2]); } \
  __declspec(property(get=get_zyyz)) vec<T,4> zyyz; \
  vec<T,4> get_zyyw() const { return vec<T,4>(v[2],v[1],v[1],v[3]); } \
  __declspec(property(get=get_zyyw)) vec<T,4> zyyw; \
  vec<T,4> get_zyzx() const { return vec<T,4>(v[2],v[1],v[2],v[0]); } \
  __declspec(property(get=get_zyzx)) vec<T,4> zyzx; \
  vec<T,4> get_zyzy() const { return vec<T,4>(v[2],v[1],v[2],v[1]); } \
  __declspec(property(get=get_zyzy)) vec<T,4> zyzy; \
  vec<T,4> get_zyzz() const { return vec<T,4>(v[2],v[1],v[2],v[2]); } \
  __declspec(property(get=get_zyzz)) vec<T,4> zyzz; \
  vec<T,4> get_zyzw() const { return vec<T,4>(v[2],v[1],v[2],v[3]); } \
  __declspec(property(get=get_zyzw)) vec<T,4> zyzw; \
  vec<T,4> get_zywx() const { return vec<T,4>(v[2],v[1],v[3],v[0]); } \
  void put_zywx(const vec<T,4>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_zywx,put=put_zywx)) vec<T,4> zywx; \
  vec<T,4> get_zywy() const { return vec<T,4>(v[2],v[1],v[3],v[1]); } \
  __declspec(property(get=get_zywy)) vec<T,4> zywy; \
  vec<T,4> get_zywz() const { return vec<T,4>(v[2],v[1],v[3],v[2]); } \
  __declspec(property(get=get_zywz)) vec<T,4> zywz; \
  vec<T,4> get_zyww() const { return vec<T,4>(v[2],v[1],v[3],v[3]); } \
  __declspec(property(get=get_zyww)) vec<T,4> zyww; \
  vec<T,4> get_zzxx() const { return vec<T,4>(v[2],v[2],v[0],v[0]); } \
  __declspec(property(get=get_zzxx)) vec<T,4> zzxx; \
  vec<T,4> get_zzxy() const { return vec<T,4>(v[2],v[2],v[0],v[1]); } \
  __declspec(property(get=get_zzxy)) vec<T,4> zzxy; \
  vec<T,4> get_zzxz() const { return vec<T,4>(v[2],v[2],v[0],v[2]); } \
  __declspec(property(get=get_zzxz)) vec<T,4> zzxz; \
  vec<T,4> get_zzxw() const { return vec<T,4>(v[2],v[2],v[0],v[3]); } \
  __declspec(property(get=get_zzxw)) vec<T,4> zzxw; \
  vec<T,4> get_zzyx() const { return vec<T,4>(v[2],v[2],v[1],v[0]); } \
  __declspec(property(get=get_zzyx)) vec<T,4> zzyx; \
  vec<T,4> get_zzyy() const { return vec<T,4>(v[2],v[2],v[1],v[1]); } \
  __declspec(property(get=get_zzyy)) vec<T,4> zzyy; \
  vec<T,4> get_zzyz() const { return vec<T,4>(v[2],v[2],v[1],v[2]); } \
  __declspec(property(get=get_zzyz)) vec<T,4> zzyz; \
  vec<T,4> get_zzyw() const { return vec<T,4>(v[2],v[2],v[1],v[3]); } \
  __declspec(property(get=get_zzyw)) vec<T,4> zzyw; \
  vec<T,4> get_zzzx() const { return vec<T,4>(v[2],v[2],v[2],v[0]); } \
  __declspec(property(get=get_zzzx)) vec<T,4> zzzx; \
  vec<T,4> get_zzzy() const { return vec<T,4>(v[2],v[2],v[2],v[1]); } \
  __declspec(property(get=get_zzzy)) vec<T,4> zzzy; \
  vec<T,4> get_zzzz() const { return vec<T,4>(v[2],v[2],v[2],v[2]); } \
  __declspec(property(get=get_zzzz)) vec<T,4> zzzz; \
  vec<T,4> get_zzzw() const { return vec<T,4>(v[2],v[2],v[2],v[3]); } \
  __declspec(property(get=get_zzzw)) vec<T,4> zzzw; \
  vec<T,4> get_zzwx() const { return vec<T,4>(v[2],v[2],v[3],v[0]); } \
  __declspec(property(get=get_zzwx)) vec<T,4> zzwx; \
  vec<T,4> get_zzwy() const { return vec<T,4>(v[2],v[2],v[3],v[1]); } \
  __declspec(property(get=get_zzwy)) vec<T,4> zzwy; \
  vec<T,4> get_zzwz() const { return vec<T,4>(v[2],v[2],v[3],v[2]); } \
  __declspec(property(get=get_zzwz)) vec<T,4> zzwz; \
  vec<T,4> get_zzww() const { return vec<T,4>(v[2],v[2],v[3],v[3]); } \
  __declspec(property(get=get_zzww)) vec<T,4> zzww; \
  vec<T,4> get_zwxx() const { return vec<T,4>(v[2],v[3],v[0],v[0]); } \
  __declspec(property(get=get_zwxx)) vec<T,4> zwxx; \
  vec<T,4> get_zwxy() const { return vec<T,4>(v[2],v[3],v[0],v[1]); } \
  void put_zwxy(const vec<T,4>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_zwxy,put=put_zwxy)) vec<T,4> zwxy; \
  vec<T,4> get_zwxz() const { return vec<T,4>(v[2],v[3],v[0],v[2]); } \
  __declspec(property(get=get_zwxz)) vec<T,4> zwxz; \
  vec<T,4> get_zwxw() const { return vec<T,4>(v[2],v[3],v[0],v[3]); } \
  __declspec(property(get=get_zwxw)) vec<T,4> zwxw; \
  vec<T,4> get_zwyx() const { return vec<T,4>(v[2],v[3],v[1],v[0]); } \
  void put_zwyx(const vec<T,4>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_zwyx,put=put_zwyx)) vec<T,4> zwyx; \
  vec<T,4> get_zwyy() const { return vec<T,4>(v[2],v[3],v[1],v[1]); } \
  __declspec(property(get=get_zwyy)) vec<T,4> zwyy; \
  vec<T,4> get_zwyz() const { return vec<T,4>(v[2],v[3],v[1],v[2]); } \
  __declspec(property(get=get_zwyz)) vec<T,4> zwyz; \
  vec<T,4> get_zwyw() const { return vec<T,4>(v[2],v[3],v[1],v[3]); } \
  __declspec(property(get=get_zwyw)) vec<T,4> zwyw; \
  vec<T,4> get_zwzx() const { return vec<T,4>(v[2],v[3],v[2],v[0]); } \
  __declspec(property(get=get_zwzx)) vec<T,4> zwzx; \
  vec<T,4> get_zwzy() const { return vec<T,4>(v[2],v[3],v[2],v[1]); } \
  __declspec(property(get=get_zwzy)) vec<T,4> zwzy; \
  vec<T,4> get_zwzz() const { return vec<T,4>(v[2],v[3],v[2],v[2]); } \
  __declspec(property(get=get_zwzz)) vec<T,4> zwzz; \
  vec<T,4> get_zwzw() const { return vec<T,4>(v[2],v[3],v[2],v[3]); } \
  __declspec(property(get=get_zwzw)) vec<T,4> zwzw; \
  vec<T,4> get_zwwx() const { return vec<T,4>(v[2],v[3],v[3],v[0]); } \
  __declspec(property(get=get_zwwx)) vec<T,4> zwwx; \
  vec<T,4> get_zwwy() const { return vec<T,4>(v[2],v[3],v[3],v[1]); } \
  __declspec(property(get=get_zwwy)) vec<T,4> zwwy; \
  vec<T,4> get_zwwz() const { return vec<T,4>(v[2],v[3],v[3],v[2]); } \
  __declspec(property(get=get_zwwz)) vec<T,4> zwwz; \
  vec<T,4> get_zwww() const { return vec<T,4>(v[2],v[3],v[3],v[3]); } \
  __declspec(property(get=get_zwww)) vec<T,4> zwww; \
  vec<T,4> get_wxxx() const { return vec<T,4>(v[3],v[0],v[0],v[0]); } \
  __declspec(property(get=get_wxxx)) vec<T,4> wxxx; \
  vec<T,4> get_wxxy() const { return vec<T,4>(v[3],v[0],v[0],v[1]); } \
  __declspec(property(get=get_wxxy)) vec<T,4> wxxy; \
  vec<T,4> get_wxxz() const { return vec<T,4>(v[3],v[0],v[0],v[2]); } \
  __declspec(property(get=get_wxxz)) vec<T,4> wxxz; \
  vec<T,4> get_wxxw() const { return vec<T,4>(v[3],v[0],v[0],v[3]); } \
  __declspec(property(get=get_wxxw)) vec<T,4> wxxw; \
  vec<T,4> get_wxyx() const { return vec<T,4>(v[3],v[0],v[1],v[0]); } \
  __declspec(property(get=get_wxyx)) vec<T,4> wxyx; \
  vec<T,4> get_wxyy() const { return vec<T,4>(v[3],v[0],v[1],v[1]); } \
  __declspec(property(get=get_wxyy)) vec<T,4> wxyy; \
  vec<T,4> get_wxyz() const { return vec<T,4>(v[3],v[0],v[1],v[2]); } \
  void put_wxyz(const vec<T,4>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_wxyz,put=put_wxyz)) vec<T,4> wxyz; \
  vec<T,4> get_wxyw() const { return vec<T,4>(v[3],v[0],v[1],v[3]); } \
  __declspec(property(get=get_wxyw)) vec<T,4> wxyw; \
  vec<T,4> get_wxzx() const { return vec<T,4>(v[3],v[0],v[2],v[0]); } \
  __declspec(property(get=get_wxzx)) vec<T,4> wxzx; \
  vec<T,4> get_wxzy() const { return vec<T,4>(v[3],v[0],v[2],v[1]); } \
  void put_wxzy(const vec<T,4>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_wxzy,put=put_wxzy)) vec<T,4> wxzy; \
  vec<T,4> get_wxzz() const { return vec<T,4>(v[3],v[0],v[2],v[2]); } \
  __declspec(property(get=get_wxzz)) vec<T,4> wxzz; \
  vec<T,4> get_wxzw() const { return vec<T,4>(v[3],v[0],v[2],v[3]); } \
  __declspec(property(get=get_wxzw)) vec<T,4> wxzw; \
  vec<T,4> get_wxwx() const { return vec<T,4>(v[3],v[0],v[3],v[0]); } \
  __declspec(property(get=get_wxwx)) vec<T,4> wxwx; \
  vec<T,4> get_wxwy() const { return vec<T,4>(v[3],v[0],v[3],v[1]); } \
  __declspec(property(get=get_wxwy)) vec<T,4> wxwy; \
  vec<T,4> get_wxwz() const { return vec<T,4>(v[3],v[0],v[3],v[2]); } \
  __declspec(property(get=get_wxwz)) vec<T,4> wxwz; \
  vec<T,4> get_wxww() const { return vec<T,4>(v[3],v[0],v[3],v[3]); } \
  __declspec(property(get=get_wxww)) vec<T,4> wxww; \
  vec<T,4> get_wyxx() const { return vec<T,4>(v[3],v[1],v[0],v[0]); } \
  __declspec(property(get=get_wyxx)) vec<T,4> wyxx; \
  vec<T,4> get_wyxy() const { return vec<T,4>(v[3],v[1],v[0],v[1]); } \
  __declspec(property(get=get_wyxy)) vec<T,4> wyxy; \
  vec<T,4> get_wyxz() const { return vec<T,4>(v[3],v[1],v[0],v[2]); } \
  void put_wyxz(const vec<T,4>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_wyxz,put=put_wyxz)) vec<T,4> wyxz; \
  vec<T,4> get_wyxw() const { return vec<T,4>(v[3],v[1],v[0],v[3]); } \
  __declspec(property(get=get_wyxw)) vec<T,4> wyxw; \
  vec<T,4> get_wyyx() const { return vec<T,4>(v[3],v[1],v[1],v[0]); } \
  __declspec(property(get=get_wyyx)) vec<T,4> wyyx; \
  vec<T,4> get_wyyy() const { return vec<T,4>(v[3],v[1],v[1],v[1]); } \
  __declspec(property(get=get_wyyy)) vec<T,4> wyyy; \
  vec<T,4> get_wyyz() const { return vec<T,4>(v[3],v[1],v[1],v[2]); } \
  __declspec(property(get=get_wyyz)) vec<T,4> wyyz; \
  vec<T,4> get_wyyw() const { return vec<T,4>(v[3],v[1],v[1],v[3]); } \
  __declspec(property(get=get_wyyw)) vec<T,4> wyyw; \
  vec<T,4> get_wyzx() const { return vec<T,4>(v[3],v[1],v[2],v[0]); } \
  void put_wyzx(const vec<T,4>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_wyzx,put=put_wyzx)) vec<T,4> wyzx; \
  vec<T,4> get_wyzy() const { return vec<T,4>(v[3],v[1],v[2],v[1]); } \
  __declspec(property(get=get_wyzy)) vec<T,4> wyzy; \
  vec<T,4> get_wyzz() const { return vec<T,4>(v[3],v[1],v[2],v[2]); } \
  __declspec(property(get=get_wyzz)) vec<T,4> wyzz; \
  vec<T,4> get_wyzw() const { return vec<T,4>(v[3],v[1],v[2],v[3]); } \
  __declspec(property(get=get_wyzw)) vec<T,4> wyzw; \
  vec<T,4> get_wywx() const { return vec<T,4>(v[3],v[1],v[3],v[0]); } \
  __declspec(property(get=get_wywx)) vec<T,4> wywx; \
  vec<T,4> get_wywy() const { return vec<T,4>(v[3],v[1],v[3],v[1]); } \
  __declspec(property(get=get_wywy)) vec<T,4> wywy; \
  vec<T,4> get_wywz() const { return vec<T,4>(v[3],v[1],v[3],v[2]); } \
  __declspec(property(get=get_wywz)) vec<T,4> wywz; \
  vec<T,4> get_wyww() const { return vec<T,4>(v[3],v[1],v[3],v[3]); } \
  __declspec(property(get=get_wyww)) vec<T,4> wyww; \
  vec<T,4> get_wzxx() const { return vec<T,4>(v[3],v[2],v[0],v[0]); } \
  __declspec(property(get=get_wzxx)) vec<T,4> wzxx; \
  vec<T,4> get_wzxy() const { return vec<T,4>(v[3],v[2],v[0],v[1]); } \
  void put_wzxy(const vec<T,4>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_wzxy,put=put_wzxy)) vec<T,4> wzxy; \
  vec<T,4> get_wzxz() const { return vec<T,4>(v[3],v[2],v[0],v[2]); } \
  __declspec(property(get=get_wzxz)) vec<T,4> wzxz; \
  vec<T,4> get_wzxw() const { return vec<T,4>(v[3],v[2],v[0],v[3]); } \
  __declspec(property(get=get_wzxw)) vec<T,4> wzxw; \
  vec<T,4> get_wzyx() const { return vec<T,4>(v[3],v[2],v[1],v[0]); } \
  void put_wzyx(const vec<T,4>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_wzyx,put=put_wzyx)) vec<T,4> wzyx; \
  vec<T,4> get_wzyy() const { return vec<T,4>(v[3],v[2],v[1],v[1]); } \
  __declspec(property(get=get_wzyy)) vec<T,4> wzyy; \
  vec<T,4> get_wzyz() const { return vec<T,4>(v[3],v[2],v[1],v[2]); } \
  __declspec(property(get=get_wzyz)) vec<T,4> wzyz; \
  vec<T,4> get_wzyw() const { return vec<T,4>(v[3],v[2],v[1],v[3]); } \
  __declspec(property(get=get_wzyw)) vec<T,4> wzyw; \
  vec<T,4> get_wzzx() const { return vec<T,4>(v[3],v[2],v[2],v[0]); } \
  __declspec(property(get=get_wzzx)) vec<T,4> wzzx; \
  vec<T,4> get_wzzy() const { return vec<T,4>(v[3],v[2],v[2],v[1]); } \
  __declspec(property(get=get_wzzy)) vec<T,4> wzzy; \
  vec<T,4> get_wzzz() const { return vec<T,4>(v[3],v[2],v[2],v[2]); } \
  __declspec(property(get=get_wzzz)) vec<T,4> wzzz; \
  vec<T,4> get_wzzw() const { return vec<T,4>(v[3],v[2],v[2],v[3]); } \
  __declspec(property(get=get_wzzw)) vec<T,4> wzzw; \
  vec<T,4> get_wzwx() const { return vec<T,4>(v[3],v[2],v[3],v[0]); } \
  __declspec(property(get=get_wzwx)) vec<T,4> wzwx; \
  vec<T,4> get_wzwy() const { return vec<T,4>(v[3],v[2],v[3],v[1]); } \
  __declspec(property(get=get_wzwy)) vec<T,4> wzwy; \
  vec<T,4> get_wzwz() const { return vec<T,4>(v[3],v[2],v[3],v[2]); } \
  __declspec(property(get=get_wzwz)) vec<T,4> wzwz; \
  vec<T,4> get_wzww() const { return vec<T,4>(v[3],v[2],v[3],v[3]); } \
  __declspec(property(get=get_wzww)) vec<T,4> wzww; \
  vec<T,4> get_wwxx() const { return vec<T,4>(v[3],v[3],v[0],v[0]); } \
  __declspec(property(get=get_wwxx)) vec<T,4> wwxx; \
  vec<T,4> get_wwxy() const { return vec<T,4>(v[3],v[3],v[0],v[1]); } \
  __declspec(property(get=get_wwxy)) vec<T,4> wwxy; \
  vec<T,4> get_wwxz() const { return vec<T,4>(v[3],v[3],v[0],v[2]); } \
  __declspec(property(get=get_wwxz)) vec<T,4> wwxz; \
  vec<T,4> get_wwxw() const { return vec<T,4>(v[3],v[3],v[0],v[3]); } \
  __declspec(property(get=get_wwxw)) vec<T,4> wwxw; \
  vec<T,4> get_wwyx() const { return vec<T,4>(v[3],v[3],v[1],v[0]); } \
  __declspec(property(get=get_wwyx)) vec<T,4> wwyx; \
  vec<T,4> get_wwyy() const { return vec<T,4>(v[3],v[3],v[1],v[1]); } \
  __declspec(property(get=get_wwyy)) vec<T,4> wwyy; \
  vec<T,4> get_wwyz() const { return vec<T,4>(v[3],v[3],v[1],v[2]); } \
  __declspec(property(get=get_wwyz)) vec<T,4> wwyz; \
  vec<T,4> get_wwyw() const { return vec<T,4>(v[3],v[3],v[1],v[3]); } \
  __declspec(property(get=get_wwyw)) vec<T,4> wwyw; \
  vec<T,4> get_wwzx() const { return vec<T,4>(v[3],v[3],v[2],v[0]); } \
  __declspec(property(get=get_wwzx)) vec<T,4> wwzx; \
  vec<T,4> get_wwzy() const { return vec<T,4>(v[3],v[3],v[2],v[1]); } \
  __declspec(property(get=get_wwzy)) vec<T,4> wwzy; \
  vec<T,4> get_wwzz() const { return vec<T,4>(v[3],v[3],v[2],v[2]); } \
  __declspec(property(get=get_wwzz)) vec<T,4> wwzz; \
  vec<T,4> get_wwzw() const { return vec<T,4>(v[3],v[3],v[2],v[3]); } \
  __declspec(property(get=get_wwzw)) vec<T,4> wwzw; \
  vec<T,4> get_wwwx() const { return vec<T,4>(v[3],v[3],v[3],v[0]); } \
  __declspec(property(get=get_wwwx)) vec<T,4> wwwx; \
  vec<T,4> get_wwwy() const { return vec<T,4>(v[3],v[3],v[3],v[1]); } \
  __declspec(property(get=get_wwwy)) vec<T,4> wwwy; \
  vec<T,4> get_wwwz() const { return vec<T,4>(v[3],v[3],v[3],v[2]); } \
  __declspec(property(get=get_wwwz)) vec<T,4> wwwz; \
  vec<T,4> get_wwww() const { return vec<T,4>(v[3],v[3],v[3],v[3]); } \
  __declspec(property(get=get_wwww)) vec<T,4> wwww; \
  vec<T,2> get_rr() const { return vec<T,2>(v[0],v[0]); } \
  __declspec(property(get=get_rr)) vec<T,2> rr; \
  vec<T,2> get_rg() const { return vec<T,2>(v[0],v[1]); } \
  void put_rg(const vec<T,2>& o) { v[0]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_rg,put=put_rg)) vec<T,2> rg; \
  vec<T,2> get_rb() const { return vec<T,2>(v[0],v[2]); } \
  void put_rb(const vec<T,2>& o) { v[0]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_rb,put=put_rb)) vec<T,2> rb; \
  vec<T,2> get_ra() const { return vec<T,2>(v[0],v[3]); } \
  void put_ra(const vec<T,2>& o) { v[0]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_ra,put=put_ra)) vec<T,2> ra; \
  vec<T,2> get_gr() const { return vec<T,2>(v[1],v[0]); } \
  void put_gr(const vec<T,2>& o) { v[1]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_gr,put=put_gr)) vec<T,2> gr; \
  vec<T,2> get_gg() const { return vec<T,2>(v[1],v[1]); } \
  __declspec(property(get=get_gg)) vec<T,2> gg; \
  vec<T,2> get_gb() const { return vec<T,2>(v[1],v[2]); } \
  void put_gb(const vec<T,2>& o) { v[1]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_gb,put=put_gb)) vec<T,2> gb; \
  vec<T,2> get_ga() const { return vec<T,2>(v[1],v[3]); } \
  void put_ga(const vec<T,2>& o) { v[1]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_ga,put=put_ga)) vec<T,2> ga; \
  vec<T,2> get_br() const { return vec<T,2>(v[2],v[0]); } \
  void put_br(const vec<T,2>& o) { v[2]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_br,put=put_br)) vec<T,2> br; \
  vec<T,2> get_bg() const { return vec<T,2>(v[2],v[1]); } \
  void put_bg(const vec<T,2>& o) { v[2]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_bg,put=put_bg)) vec<T,2> bg; \
  vec<T,2> get_bb() const { return vec<T,2>(v[2],v[2]); } \
  __declspec(property(get=get_bb)) vec<T,2> bb; \
  vec<T,2> get_ba() const { return vec<T,2>(v[2],v[3]); } \
  void put_ba(const vec<T,2>& o) { v[2]=o.v[0]; v[3]=o.v[1]; } \
  __declspec(property(get=get_ba,put=put_ba)) vec<T,2> ba; \
  vec<T,2> get_ar() const { return vec<T,2>(v[3],v[0]); } \
  void put_ar(const vec<T,2>& o) { v[3]=o.v[0]; v[0]=o.v[1]; } \
  __declspec(property(get=get_ar,put=put_ar)) vec<T,2> ar; \
  vec<T,2> get_ag() const { return vec<T,2>(v[3],v[1]); } \
  void put_ag(const vec<T,2>& o) { v[3]=o.v[0]; v[1]=o.v[1]; } \
  __declspec(property(get=get_ag,put=put_ag)) vec<T,2> ag; \
  vec<T,2> get_ab() const { return vec<T,2>(v[3],v[2]); } \
  void put_ab(const vec<T,2>& o) { v[3]=o.v[0]; v[2]=o.v[1]; } \
  __declspec(property(get=get_ab,put=put_ab)) vec<T,2> ab; \
  vec<T,2> get_aa() const { return vec<T,2>(v[3],v[3]); } \
  __declspec(property(get=get_aa)) vec<T,2> aa; \
  vec<T,3> get_rrr() const { return vec<T,3>(v[0],v[0],v[0]); } \
  __declspec(property(get=get_rrr)) vec<T,3> rrr; \
  vec<T,3> get_rrg() const { return vec<T,3>(v[0],v[0],v[1]); } \
  __declspec(property(get=get_rrg)) vec<T,3> rrg; \
  vec<T,3> get_rrb() const { return vec<T,3>(v[0],v[0],v[2]); } \
  __declspec(property(get=get_rrb)) vec<T,3> rrb; \
  vec<T,3> get_rra() const { return vec<T,3>(v[0],v[0],v[3]); } \
  __declspec(property(get=get_rra)) vec<T,3> rra; \
  vec<T,3> get_rgr() const { return vec<T,3>(v[0],v[1],v[0]); } \
  __declspec(property(get=get_rgr)) vec<T,3> rgr; \
  vec<T,3> get_rgg() const { return vec<T,3>(v[0],v[1],v[1]); } \
  __declspec(property(get=get_rgg)) vec<T,3> rgg; \
  vec<T,3> get_rgb() const { return vec<T,3>(v[0],v[1],v[2]); } \
  void put_rgb(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_rgb,put=put_rgb)) vec<T,3> rgb; \
  vec<T,3> get_rga() const { return vec<T,3>(v[0],v[1],v[3]); } \
  void put_rga(const vec<T,3>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_rga,put=put_rga)) vec<T,3> rga; \
  vec<T,3> get_rbr() const { return vec<T,3>(v[0],v[2],v[0]); } \
  __declspec(property(get=get_rbr)) vec<T,3> rbr; \
  vec<T,3> get_rbg() const { return vec<T,3>(v[0],v[2],v[1]); } \
  void put_rbg(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_rbg,put=put_rbg)) vec<T,3> rbg; \
  vec<T,3> get_rbb() const { return vec<T,3>(v[0],v[2],v[2]); } \
  __declspec(property(get=get_rbb)) vec<T,3> rbb; \
  vec<T,3> get_rba() const { return vec<T,3>(v[0],v[2],v[3]); } \
  void put_rba(const vec<T,3>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_rba,put=put_rba)) vec<T,3> rba; \
  vec<T,3> get_rar() const { return vec<T,3>(v[0],v[3],v[0]); } \
  __declspec(property(get=get_rar)) vec<T,3> rar; \
  vec<T,3> get_rag() const { return vec<T,3>(v[0],v[3],v[1]); } \
  void put_rag(const vec<T,3>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_rag,put=put_rag)) vec<T,3> rag; \
  vec<T,3> get_rab() const { return vec<T,3>(v[0],v[3],v[2]); } \
  void put_rab(const vec<T,3>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_rab,put=put_rab)) vec<T,3> rab; \
  vec<T,3> get_raa() const { return vec<T,3>(v[0],v[3],v[3]); } \
  __declspec(property(get=get_raa)) vec<T,3> raa; \
  vec<T,3> get_grr() const { return vec<T,3>(v[1],v[0],v[0]); } \
  __declspec(property(get=get_grr)) vec<T,3> grr; \
  vec<T,3> get_grg() const { return vec<T,3>(v[1],v[0],v[1]); } \
  __declspec(property(get=get_grg)) vec<T,3> grg; \
  vec<T,3> get_grb() const { return vec<T,3>(v[1],v[0],v[2]); } \
  void put_grb(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_grb,put=put_grb)) vec<T,3> grb; \
  vec<T,3> get_gra() const { return vec<T,3>(v[1],v[0],v[3]); } \
  void put_gra(const vec<T,3>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_gra,put=put_gra)) vec<T,3> gra; \
  vec<T,3> get_ggr() const { return vec<T,3>(v[1],v[1],v[0]); } \
  __declspec(property(get=get_ggr)) vec<T,3> ggr; \
  vec<T,3> get_ggg() const { return vec<T,3>(v[1],v[1],v[1]); } \
  __declspec(property(get=get_ggg)) vec<T,3> ggg; \
  vec<T,3> get_ggb() const { return vec<T,3>(v[1],v[1],v[2]); } \
  __declspec(property(get=get_ggb)) vec<T,3> ggb; \
  vec<T,3> get_gga() const { return vec<T,3>(v[1],v[1],v[3]); } \
  __declspec(property(get=get_gga)) vec<T,3> gga; \
  vec<T,3> get_gbr() const { return vec<T,3>(v[1],v[2],v[0]); } \
  void put_gbr(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_gbr,put=put_gbr)) vec<T,3> gbr; \
  vec<T,3> get_gbg() const { return vec<T,3>(v[1],v[2],v[1]); } \
  __declspec(property(get=get_gbg)) vec<T,3> gbg; \
  vec<T,3> get_gbb() const { return vec<T,3>(v[1],v[2],v[2]); } \
  __declspec(property(get=get_gbb)) vec<T,3> gbb; \
  vec<T,3> get_gba() const { return vec<T,3>(v[1],v[2],v[3]); } \
  void put_gba(const vec<T,3>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_gba,put=put_gba)) vec<T,3> gba; \
  vec<T,3> get_gar() const { return vec<T,3>(v[1],v[3],v[0]); } \
  void put_gar(const vec<T,3>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_gar,put=put_gar)) vec<T,3> gar; \
  vec<T,3> get_gag() const { return vec<T,3>(v[1],v[3],v[1]); } \
  __declspec(property(get=get_gag)) vec<T,3> gag; \
  vec<T,3> get_gab() const { return vec<T,3>(v[1],v[3],v[2]); } \
  void put_gab(const vec<T,3>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_gab,put=put_gab)) vec<T,3> gab; \
  vec<T,3> get_gaa() const { return vec<T,3>(v[1],v[3],v[3]); } \
  __declspec(property(get=get_gaa)) vec<T,3> gaa; \
  vec<T,3> get_brr() const { return vec<T,3>(v[2],v[0],v[0]); } \
  __declspec(property(get=get_brr)) vec<T,3> brr; \
  vec<T,3> get_brg() const { return vec<T,3>(v[2],v[0],v[1]); } \
  void put_brg(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_brg,put=put_brg)) vec<T,3> brg; \
  vec<T,3> get_brb() const { return vec<T,3>(v[2],v[0],v[2]); } \
  __declspec(property(get=get_brb)) vec<T,3> brb; \
  vec<T,3> get_bra() const { return vec<T,3>(v[2],v[0],v[3]); } \
  void put_bra(const vec<T,3>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_bra,put=put_bra)) vec<T,3> bra; \
  vec<T,3> get_bgr() const { return vec<T,3>(v[2],v[1],v[0]); } \
  void put_bgr(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_bgr,put=put_bgr)) vec<T,3> bgr; \
  vec<T,3> get_bgg() const { return vec<T,3>(v[2],v[1],v[1]); } \
  __declspec(property(get=get_bgg)) vec<T,3> bgg; \
  vec<T,3> get_bgb() const { return vec<T,3>(v[2],v[1],v[2]); } \
  __declspec(property(get=get_bgb)) vec<T,3> bgb; \
  vec<T,3> get_bga() const { return vec<T,3>(v[2],v[1],v[3]); } \
  void put_bga(const vec<T,3>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; } \
  __declspec(property(get=get_bga,put=put_bga)) vec<T,3> bga; \
  vec<T,3> get_bbr() const { return vec<T,3>(v[2],v[2],v[0]); } \
  __declspec(property(get=get_bbr)) vec<T,3> bbr; \
  vec<T,3> get_bbg() const { return vec<T,3>(v[2],v[2],v[1]); } \
  __declspec(property(get=get_bbg)) vec<T,3> bbg; \
  vec<T,3> get_bbb() const { return vec<T,3>(v[2],v[2],v[2]); } \
  __declspec(property(get=get_bbb)) vec<T,3> bbb; \
  vec<T,3> get_bba() const { return vec<T,3>(v[2],v[2],v[3]); } \
  __declspec(property(get=get_bba)) vec<T,3> bba; \
  vec<T,3> get_bar() const { return vec<T,3>(v[2],v[3],v[0]); } \
  void put_bar(const vec<T,3>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_bar,put=put_bar)) vec<T,3> bar; \
  vec<T,3> get_bag() const { return vec<T,3>(v[2],v[3],v[1]); } \
  void put_bag(const vec<T,3>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_bag,put=put_bag)) vec<T,3> bag; \
  vec<T,3> get_bab() const { return vec<T,3>(v[2],v[3],v[2]); } \
  __declspec(property(get=get_bab)) vec<T,3> bab; \
  vec<T,3> get_baa() const { return vec<T,3>(v[2],v[3],v[3]); } \
  __declspec(property(get=get_baa)) vec<T,3> baa; \
  vec<T,3> get_arr() const { return vec<T,3>(v[3],v[0],v[0]); } \
  __declspec(property(get=get_arr)) vec<T,3> arr; \
  vec<T,3> get_arg() const { return vec<T,3>(v[3],v[0],v[1]); } \
  void put_arg(const vec<T,3>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_arg,put=put_arg)) vec<T,3> arg; \
  vec<T,3> get_arb() const { return vec<T,3>(v[3],v[0],v[2]); } \
  void put_arb(const vec<T,3>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_arb,put=put_arb)) vec<T,3> arb; \
  vec<T,3> get_ara() const { return vec<T,3>(v[3],v[0],v[3]); } \
  __declspec(property(get=get_ara)) vec<T,3> ara; \
  vec<T,3> get_agr() const { return vec<T,3>(v[3],v[1],v[0]); } \
  void put_agr(const vec<T,3>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_agr,put=put_agr)) vec<T,3> agr; \
  vec<T,3> get_agg() const { return vec<T,3>(v[3],v[1],v[1]); } \
  __declspec(property(get=get_agg)) vec<T,3> agg; \
  vec<T,3> get_agb() const { return vec<T,3>(v[3],v[1],v[2]); } \
  void put_agb(const vec<T,3>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; } \
  __declspec(property(get=get_agb,put=put_agb)) vec<T,3> agb; \
  vec<T,3> get_aga() const { return vec<T,3>(v[3],v[1],v[3]); } \
  __declspec(property(get=get_aga)) vec<T,3> aga; \
  vec<T,3> get_abr() const { return vec<T,3>(v[3],v[2],v[0]); } \
  void put_abr(const vec<T,3>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; } \
  __declspec(property(get=get_abr,put=put_abr)) vec<T,3> abr; \
  vec<T,3> get_abg() const { return vec<T,3>(v[3],v[2],v[1]); } \
  void put_abg(const vec<T,3>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; } \
  __declspec(property(get=get_abg,put=put_abg)) vec<T,3> abg; \
  vec<T,3> get_abb() const { return vec<T,3>(v[3],v[2],v[2]); } \
  __declspec(property(get=get_abb)) vec<T,3> abb; \
  vec<T,3> get_aba() const { return vec<T,3>(v[3],v[2],v[3]); } \
  __declspec(property(get=get_aba)) vec<T,3> aba; \
  vec<T,3> get_aar() const { return vec<T,3>(v[3],v[3],v[0]); } \
  __declspec(property(get=get_aar)) vec<T,3> aar; \
  vec<T,3> get_aag() const { return vec<T,3>(v[3],v[3],v[1]); } \
  __declspec(property(get=get_aag)) vec<T,3> aag; \
  vec<T,3> get_aab() const { return vec<T,3>(v[3],v[3],v[2]); } \
  __declspec(property(get=get_aab)) vec<T,3> aab; \
  vec<T,3> get_aaa() const { return vec<T,3>(v[3],v[3],v[3]); } \
  __declspec(property(get=get_aaa)) vec<T,3> aaa; \
  vec<T,4> get_rrrr() const { return vec<T,4>(v[0],v[0],v[0],v[0]); } \
  __declspec(property(get=get_rrrr)) vec<T,4> rrrr; \
  vec<T,4> get_rrrg() const { return vec<T,4>(v[0],v[0],v[0],v[1]); } \
  __declspec(property(get=get_rrrg)) vec<T,4> rrrg; \
  vec<T,4> get_rrrb() const { return vec<T,4>(v[0],v[0],v[0],v[2]); } \
  __declspec(property(get=get_rrrb)) vec<T,4> rrrb; \
  vec<T,4> get_rrra() const { return vec<T,4>(v[0],v[0],v[0],v[3]); } \
  __declspec(property(get=get_rrra)) vec<T,4> rrra; \
  vec<T,4> get_rrgr() const { return vec<T,4>(v[0],v[0],v[1],v[0]); } \
  __declspec(property(get=get_rrgr)) vec<T,4> rrgr; \
  vec<T,4> get_rrgg() const { return vec<T,4>(v[0],v[0],v[1],v[1]); } \
  __declspec(property(get=get_rrgg)) vec<T,4> rrgg; \
  vec<T,4> get_rrgb() const { return vec<T,4>(v[0],v[0],v[1],v[2]); } \
  __declspec(property(get=get_rrgb)) vec<T,4> rrgb; \
  vec<T,4> get_rrga() const { return vec<T,4>(v[0],v[0],v[1],v[3]); } \
  __declspec(property(get=get_rrga)) vec<T,4> rrga; \
  vec<T,4> get_rrbr() const { return vec<T,4>(v[0],v[0],v[2],v[0]); } \
  __declspec(property(get=get_rrbr)) vec<T,4> rrbr; \
  vec<T,4> get_rrbg() const { return vec<T,4>(v[0],v[0],v[2],v[1]); } \
  __declspec(property(get=get_rrbg)) vec<T,4> rrbg; \
  vec<T,4> get_rrbb() const { return vec<T,4>(v[0],v[0],v[2],v[2]); } \
  __declspec(property(get=get_rrbb)) vec<T,4> rrbb; \
  vec<T,4> get_rrba() const { return vec<T,4>(v[0],v[0],v[2],v[3]); } \
  __declspec(property(get=get_rrba)) vec<T,4> rrba; \
  vec<T,4> get_rrar() const { return vec<T,4>(v[0],v[0],v[3],v[0]); } \
  __declspec(property(get=get_rrar)) vec<T,4> rrar; \
  vec<T,4> get_rrag() const { return vec<T,4>(v[0],v[0],v[3],v[1]); } \
  __declspec(property(get=get_rrag)) vec<T,4> rrag; \
  vec<T,4> get_rrab() const { return vec<T,4>(v[0],v[0],v[3],v[2]); } \
  __declspec(property(get=get_rrab)) vec<T,4> rrab; \
  vec<T,4> get_rraa() const { return vec<T,4>(v[0],v[0],v[3],v[3]); } \
  __declspec(property(get=get_rraa)) vec<T,4> rraa; \
  vec<T,4> get_rgrr() const { return vec<T,4>(v[0],v[1],v[0],v[0]); } \
  __declspec(property(get=get_rgrr)) vec<T,4> rgrr; \
  vec<T,4> get_rgrg() const { return vec<T,4>(v[0],v[1],v[0],v[1]); } \
  __declspec(property(get=get_rgrg)) vec<T,4> rgrg; \
  vec<T,4> get_rgrb() const { return vec<T,4>(v[0],v[1],v[0],v[2]); } \
  __declspec(property(get=get_rgrb)) vec<T,4> rgrb; \
  vec<T,4> get_rgra() const { return vec<T,4>(v[0],v[1],v[0],v[3]); } \
  __declspec(property(get=get_rgra)) vec<T,4> rgra; \
  vec<T,4> get_rggr() const { return vec<T,4>(v[0],v[1],v[1],v[0]); } \
  __declspec(property(get=get_rggr)) vec<T,4> rggr; \
  vec<T,4> get_rggg() const { return vec<T,4>(v[0],v[1],v[1],v[1]); } \
  __declspec(property(get=get_rggg)) vec<T,4> rggg; \
  vec<T,4> get_rggb() const { return vec<T,4>(v[0],v[1],v[1],v[2]); } \
  __declspec(property(get=get_rggb)) vec<T,4> rggb; \
  vec<T,4> get_rgga() const { return vec<T,4>(v[0],v[1],v[1],v[3]); } \
  __declspec(property(get=get_rgga)) vec<T,4> rgga; \
  vec<T,4> get_rgbr() const { return vec<T,4>(v[0],v[1],v[2],v[0]); } \
  __declspec(property(get=get_rgbr)) vec<T,4> rgbr; \
  vec<T,4> get_rgbg() const { return vec<T,4>(v[0],v[1],v[2],v[1]); } \
  __declspec(property(get=get_rgbg)) vec<T,4> rgbg; \
  vec<T,4> get_rgbb() const { return vec<T,4>(v[0],v[1],v[2],v[2]); } \
  __declspec(property(get=get_rgbb)) vec<T,4> rgbb; \
  vec<T,4> get_rgba() const { return vec<T,4>(v[0],v[1],v[2],v[3]); } \
  void put_rgba(const vec<T,4>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_rgba,put=put_rgba)) vec<T,4> rgba; \
  vec<T,4> get_rgar() const { return vec<T,4>(v[0],v[1],v[3],v[0]); } \
  __declspec(property(get=get_rgar)) vec<T,4> rgar; \
  vec<T,4> get_rgag() const { return vec<T,4>(v[0],v[1],v[3],v[1]); } \
  __declspec(property(get=get_rgag)) vec<T,4> rgag; \
  vec<T,4> get_rgab() const { return vec<T,4>(v[0],v[1],v[3],v[2]); } \
  void put_rgab(const vec<T,4>& o) { v[0]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_rgab,put=put_rgab)) vec<T,4> rgab; \
  vec<T,4> get_rgaa() const { return vec<T,4>(v[0],v[1],v[3],v[3]); } \
  __declspec(property(get=get_rgaa)) vec<T,4> rgaa; \
  vec<T,4> get_rbrr() const { return vec<T,4>(v[0],v[2],v[0],v[0]); } \
  __declspec(property(get=get_rbrr)) vec<T,4> rbrr; \
  vec<T,4> get_rbrg() const { return vec<T,4>(v[0],v[2],v[0],v[1]); } \
  __declspec(property(get=get_rbrg)) vec<T,4> rbrg; \
  vec<T,4> get_rbrb() const { return vec<T,4>(v[0],v[2],v[0],v[2]); } \
  __declspec(property(get=get_rbrb)) vec<T,4> rbrb; \
  vec<T,4> get_rbra() const { return vec<T,4>(v[0],v[2],v[0],v[3]); } \
  __declspec(property(get=get_rbra)) vec<T,4> rbra; \
  vec<T,4> get_rbgr() const { return vec<T,4>(v[0],v[2],v[1],v[0]); } \
  __declspec(property(get=get_rbgr)) vec<T,4> rbgr; \
  vec<T,4> get_rbgg() const { return vec<T,4>(v[0],v[2],v[1],v[1]); } \
  __declspec(property(get=get_rbgg)) vec<T,4> rbgg; \
  vec<T,4> get_rbgb() const { return vec<T,4>(v[0],v[2],v[1],v[2]); } \
  __declspec(property(get=get_rbgb)) vec<T,4> rbgb; \
  vec<T,4> get_rbga() const { return vec<T,4>(v[0],v[2],v[1],v[3]); } \
  void put_rbga(const vec<T,4>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_rbga,put=put_rbga)) vec<T,4> rbga; \
  vec<T,4> get_rbbr() const { return vec<T,4>(v[0],v[2],v[2],v[0]); } \
  __declspec(property(get=get_rbbr)) vec<T,4> rbbr; \
  vec<T,4> get_rbbg() const { return vec<T,4>(v[0],v[2],v[2],v[1]); } \
  __declspec(property(get=get_rbbg)) vec<T,4> rbbg; \
  vec<T,4> get_rbbb() const { return vec<T,4>(v[0],v[2],v[2],v[2]); } \
  __declspec(property(get=get_rbbb)) vec<T,4> rbbb; \
  vec<T,4> get_rbba() const { return vec<T,4>(v[0],v[2],v[2],v[3]); } \
  __declspec(property(get=get_rbba)) vec<T,4> rbba; \
  vec<T,4> get_rbar() const { return vec<T,4>(v[0],v[2],v[3],v[0]); } \
  __declspec(property(get=get_rbar)) vec<T,4> rbar; \
  vec<T,4> get_rbag() const { return vec<T,4>(v[0],v[2],v[3],v[1]); } \
  void put_rbag(const vec<T,4>& o) { v[0]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_rbag,put=put_rbag)) vec<T,4> rbag; \
  vec<T,4> get_rbab() const { return vec<T,4>(v[0],v[2],v[3],v[2]); } \
  __declspec(property(get=get_rbab)) vec<T,4> rbab; \
  vec<T,4> get_rbaa() const { return vec<T,4>(v[0],v[2],v[3],v[3]); } \
  __declspec(property(get=get_rbaa)) vec<T,4> rbaa; \
  vec<T,4> get_rarr() const { return vec<T,4>(v[0],v[3],v[0],v[0]); } \
  __declspec(property(get=get_rarr)) vec<T,4> rarr; \
  vec<T,4> get_rarg() const { return vec<T,4>(v[0],v[3],v[0],v[1]); } \
  __declspec(property(get=get_rarg)) vec<T,4> rarg; \
  vec<T,4> get_rarb() const { return vec<T,4>(v[0],v[3],v[0],v[2]); } \
  __declspec(property(get=get_rarb)) vec<T,4> rarb; \
  vec<T,4> get_rara() const { return vec<T,4>(v[0],v[3],v[0],v[3]); } \
  __declspec(property(get=get_rara)) vec<T,4> rara; \
  vec<T,4> get_ragr() const { return vec<T,4>(v[0],v[3],v[1],v[0]); } \
  __declspec(property(get=get_ragr)) vec<T,4> ragr; \
  vec<T,4> get_ragg() const { return vec<T,4>(v[0],v[3],v[1],v[1]); } \
  __declspec(property(get=get_ragg)) vec<T,4> ragg; \
  vec<T,4> get_ragb() const { return vec<T,4>(v[0],v[3],v[1],v[2]); } \
  void put_ragb(const vec<T,4>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_ragb,put=put_ragb)) vec<T,4> ragb; \
  vec<T,4> get_raga() const { return vec<T,4>(v[0],v[3],v[1],v[3]); } \
  __declspec(property(get=get_raga)) vec<T,4> raga; \
  vec<T,4> get_rabr() const { return vec<T,4>(v[0],v[3],v[2],v[0]); } \
  __declspec(property(get=get_rabr)) vec<T,4> rabr; \
  vec<T,4> get_rabg() const { return vec<T,4>(v[0],v[3],v[2],v[1]); } \
  void put_rabg(const vec<T,4>& o) { v[0]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_rabg,put=put_rabg)) vec<T,4> rabg; \
  vec<T,4> get_rabb() const { return vec<T,4>(v[0],v[3],v[2],v[2]); } \
  __declspec(property(get=get_rabb)) vec<T,4> rabb; \
  vec<T,4> get_raba() const { return vec<T,4>(v[0],v[3],v[2],v[3]); } \
  __declspec(property(get=get_raba)) vec<T,4> raba; \
  vec<T,4> get_raar() const { return vec<T,4>(v[0],v[3],v[3],v[0]); } \
  __declspec(property(get=get_raar)) vec<T,4> raar; \
  vec<T,4> get_raag() const { return vec<T,4>(v[0],v[3],v[3],v[1]); } \
  __declspec(property(get=get_raag)) vec<T,4> raag; \
  vec<T,4> get_raab() const { return vec<T,4>(v[0],v[3],v[3],v[2]); } \
  __declspec(property(get=get_raab)) vec<T,4> raab; \
  vec<T,4> get_raaa() const { return vec<T,4>(v[0],v[3],v[3],v[3]); } \
  __declspec(property(get=get_raaa)) vec<T,4> raaa; \
  vec<T,4> get_grrr() const { return vec<T,4>(v[1],v[0],v[0],v[0]); } \
  __declspec(property(get=get_grrr)) vec<T,4> grrr; \
  vec<T,4> get_grrg() const { return vec<T,4>(v[1],v[0],v[0],v[1]); } \
  __declspec(property(get=get_grrg)) vec<T,4> grrg; \
  vec<T,4> get_grrb() const { return vec<T,4>(v[1],v[0],v[0],v[2]); } \
  __declspec(property(get=get_grrb)) vec<T,4> grrb; \
  vec<T,4> get_grra() const { return vec<T,4>(v[1],v[0],v[0],v[3]); } \
  __declspec(property(get=get_grra)) vec<T,4> grra; \
  vec<T,4> get_grgr() const { return vec<T,4>(v[1],v[0],v[1],v[0]); } \
  __declspec(property(get=get_grgr)) vec<T,4> grgr; \
  vec<T,4> get_grgg() const { return vec<T,4>(v[1],v[0],v[1],v[1]); } \
  __declspec(property(get=get_grgg)) vec<T,4> grgg; \
  vec<T,4> get_grgb() const { return vec<T,4>(v[1],v[0],v[1],v[2]); } \
  __declspec(property(get=get_grgb)) vec<T,4> grgb; \
  vec<T,4> get_grga() const { return vec<T,4>(v[1],v[0],v[1],v[3]); } \
  __declspec(property(get=get_grga)) vec<T,4> grga; \
  vec<T,4> get_grbr() const { return vec<T,4>(v[1],v[0],v[2],v[0]); } \
  __declspec(property(get=get_grbr)) vec<T,4> grbr; \
  vec<T,4> get_grbg() const { return vec<T,4>(v[1],v[0],v[2],v[1]); } \
  __declspec(property(get=get_grbg)) vec<T,4> grbg; \
  vec<T,4> get_grbb() const { return vec<T,4>(v[1],v[0],v[2],v[2]); } \
  __declspec(property(get=get_grbb)) vec<T,4> grbb; \
  vec<T,4> get_grba() const { return vec<T,4>(v[1],v[0],v[2],v[3]); } \
  void put_grba(const vec<T,4>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_grba,put=put_grba)) vec<T,4> grba; \
  vec<T,4> get_grar() const { return vec<T,4>(v[1],v[0],v[3],v[0]); } \
  __declspec(property(get=get_grar)) vec<T,4> grar; \
  vec<T,4> get_grag() const { return vec<T,4>(v[1],v[0],v[3],v[1]); } \
  __declspec(property(get=get_grag)) vec<T,4> grag; \
  vec<T,4> get_grab() const { return vec<T,4>(v[1],v[0],v[3],v[2]); } \
  void put_grab(const vec<T,4>& o) { v[1]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_grab,put=put_grab)) vec<T,4> grab; \
  vec<T,4> get_graa() const { return vec<T,4>(v[1],v[0],v[3],v[3]); } \
  __declspec(property(get=get_graa)) vec<T,4> graa; \
  vec<T,4> get_ggrr() const { return vec<T,4>(v[1],v[1],v[0],v[0]); } \
  __declspec(property(get=get_ggrr)) vec<T,4> ggrr; \
  vec<T,4> get_ggrg() const { return vec<T,4>(v[1],v[1],v[0],v[1]); } \
  __declspec(property(get=get_ggrg)) vec<T,4> ggrg; \
  vec<T,4> get_ggrb() const { return vec<T,4>(v[1],v[1],v[0],v[2]); } \
  __declspec(property(get=get_ggrb)) vec<T,4> ggrb; \
  vec<T,4> get_ggra() const { return vec<T,4>(v[1],v[1],v[0],v[3]); } \
  __declspec(property(get=get_ggra)) vec<T,4> ggra; \
  vec<T,4> get_gggr() const { return vec<T,4>(v[1],v[1],v[1],v[0]); } \
  __declspec(property(get=get_gggr)) vec<T,4> gggr; \
  vec<T,4> get_gggg() const { return vec<T,4>(v[1],v[1],v[1],v[1]); } \
  __declspec(property(get=get_gggg)) vec<T,4> gggg; \
  vec<T,4> get_gggb() const { return vec<T,4>(v[1],v[1],v[1],v[2]); } \
  __declspec(property(get=get_gggb)) vec<T,4> gggb; \
  vec<T,4> get_ggga() const { return vec<T,4>(v[1],v[1],v[1],v[3]); } \
  __declspec(property(get=get_ggga)) vec<T,4> ggga; \
  vec<T,4> get_ggbr() const { return vec<T,4>(v[1],v[1],v[2],v[0]); } \
  __declspec(property(get=get_ggbr)) vec<T,4> ggbr; \
  vec<T,4> get_ggbg() const { return vec<T,4>(v[1],v[1],v[2],v[1]); } \
  __declspec(property(get=get_ggbg)) vec<T,4> ggbg; \
  vec<T,4> get_ggbb() const { return vec<T,4>(v[1],v[1],v[2],v[2]); } \
  __declspec(property(get=get_ggbb)) vec<T,4> ggbb; \
  vec<T,4> get_ggba() const { return vec<T,4>(v[1],v[1],v[2],v[3]); } \
  __declspec(property(get=get_ggba)) vec<T,4> ggba; \
  vec<T,4> get_ggar() const { return vec<T,4>(v[1],v[1],v[3],v[0]); } \
  __declspec(property(get=get_ggar)) vec<T,4> ggar; \
  vec<T,4> get_ggag() const { return vec<T,4>(v[1],v[1],v[3],v[1]); } \
  __declspec(property(get=get_ggag)) vec<T,4> ggag; \
  vec<T,4> get_ggab() const { return vec<T,4>(v[1],v[1],v[3],v[2]); } \
  __declspec(property(get=get_ggab)) vec<T,4> ggab; \
  vec<T,4> get_ggaa() const { return vec<T,4>(v[1],v[1],v[3],v[3]); } \
  __declspec(property(get=get_ggaa)) vec<T,4> ggaa; \
  vec<T,4> get_gbrr() const { return vec<T,4>(v[1],v[2],v[0],v[0]); } \
  __declspec(property(get=get_gbrr)) vec<T,4> gbrr; \
  vec<T,4> get_gbrg() const { return vec<T,4>(v[1],v[2],v[0],v[1]); } \
  __declspec(property(get=get_gbrg)) vec<T,4> gbrg; \
  vec<T,4> get_gbrb() const { return vec<T,4>(v[1],v[2],v[0],v[2]); } \
  __declspec(property(get=get_gbrb)) vec<T,4> gbrb; \
  vec<T,4> get_gbra() const { return vec<T,4>(v[1],v[2],v[0],v[3]); } \
  void put_gbra(const vec<T,4>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_gbra,put=put_gbra)) vec<T,4> gbra; \
  vec<T,4> get_gbgr() const { return vec<T,4>(v[1],v[2],v[1],v[0]); } \
  __declspec(property(get=get_gbgr)) vec<T,4> gbgr; \
  vec<T,4> get_gbgg() const { return vec<T,4>(v[1],v[2],v[1],v[1]); } \
  __declspec(property(get=get_gbgg)) vec<T,4> gbgg; \
  vec<T,4> get_gbgb() const { return vec<T,4>(v[1],v[2],v[1],v[2]); } \
  __declspec(property(get=get_gbgb)) vec<T,4> gbgb; \
  vec<T,4> get_gbga() const { return vec<T,4>(v[1],v[2],v[1],v[3]); } \
  __declspec(property(get=get_gbga)) vec<T,4> gbga; \
  vec<T,4> get_gbbr() const { return vec<T,4>(v[1],v[2],v[2],v[0]); } \
  __declspec(property(get=get_gbbr)) vec<T,4> gbbr; \
  vec<T,4> get_gbbg() const { return vec<T,4>(v[1],v[2],v[2],v[1]); } \
  __declspec(property(get=get_gbbg)) vec<T,4> gbbg; \
  vec<T,4> get_gbbb() const { return vec<T,4>(v[1],v[2],v[2],v[2]); } \
  __declspec(property(get=get_gbbb)) vec<T,4> gbbb; \
  vec<T,4> get_gbba() const { return vec<T,4>(v[1],v[2],v[2],v[3]); } \
  __declspec(property(get=get_gbba)) vec<T,4> gbba; \
  vec<T,4> get_gbar() const { return vec<T,4>(v[1],v[2],v[3],v[0]); } \
  void put_gbar(const vec<T,4>& o) { v[1]=o.v[0]; v[2]=o.v[1]; v[3]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_gbar,put=put_gbar)) vec<T,4> gbar; \
  vec<T,4> get_gbag() const { return vec<T,4>(v[1],v[2],v[3],v[1]); } \
  __declspec(property(get=get_gbag)) vec<T,4> gbag; \
  vec<T,4> get_gbab() const { return vec<T,4>(v[1],v[2],v[3],v[2]); } \
  __declspec(property(get=get_gbab)) vec<T,4> gbab; \
  vec<T,4> get_gbaa() const { return vec<T,4>(v[1],v[2],v[3],v[3]); } \
  __declspec(property(get=get_gbaa)) vec<T,4> gbaa; \
  vec<T,4> get_garr() const { return vec<T,4>(v[1],v[3],v[0],v[0]); } \
  __declspec(property(get=get_garr)) vec<T,4> garr; \
  vec<T,4> get_garg() const { return vec<T,4>(v[1],v[3],v[0],v[1]); } \
  __declspec(property(get=get_garg)) vec<T,4> garg; \
  vec<T,4> get_garb() const { return vec<T,4>(v[1],v[3],v[0],v[2]); } \
  void put_garb(const vec<T,4>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_garb,put=put_garb)) vec<T,4> garb; \
  vec<T,4> get_gara() const { return vec<T,4>(v[1],v[3],v[0],v[3]); } \
  __declspec(property(get=get_gara)) vec<T,4> gara; \
  vec<T,4> get_gagr() const { return vec<T,4>(v[1],v[3],v[1],v[0]); } \
  __declspec(property(get=get_gagr)) vec<T,4> gagr; \
  vec<T,4> get_gagg() const { return vec<T,4>(v[1],v[3],v[1],v[1]); } \
  __declspec(property(get=get_gagg)) vec<T,4> gagg; \
  vec<T,4> get_gagb() const { return vec<T,4>(v[1],v[3],v[1],v[2]); } \
  __declspec(property(get=get_gagb)) vec<T,4> gagb; \
  vec<T,4> get_gaga() const { return vec<T,4>(v[1],v[3],v[1],v[3]); } \
  __declspec(property(get=get_gaga)) vec<T,4> gaga; \
  vec<T,4> get_gabr() const { return vec<T,4>(v[1],v[3],v[2],v[0]); } \
  void put_gabr(const vec<T,4>& o) { v[1]=o.v[0]; v[3]=o.v[1]; v[2]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_gabr,put=put_gabr)) vec<T,4> gabr; \
  vec<T,4> get_gabg() const { return vec<T,4>(v[1],v[3],v[2],v[1]); } \
  __declspec(property(get=get_gabg)) vec<T,4> gabg; \
  vec<T,4> get_gabb() const { return vec<T,4>(v[1],v[3],v[2],v[2]); } \
  __declspec(property(get=get_gabb)) vec<T,4> gabb; \
  vec<T,4> get_gaba() const { return vec<T,4>(v[1],v[3],v[2],v[3]); } \
  __declspec(property(get=get_gaba)) vec<T,4> gaba; \
  vec<T,4> get_gaar() const { return vec<T,4>(v[1],v[3],v[3],v[0]); } \
  __declspec(property(get=get_gaar)) vec<T,4> gaar; \
  vec<T,4> get_gaag() const { return vec<T,4>(v[1],v[3],v[3],v[1]); } \
  __declspec(property(get=get_gaag)) vec<T,4> gaag; \
  vec<T,4> get_gaab() const { return vec<T,4>(v[1],v[3],v[3],v[2]); } \
  __declspec(property(get=get_gaab)) vec<T,4> gaab; \
  vec<T,4> get_gaaa() const { return vec<T,4>(v[1],v[3],v[3],v[3]); } \
  __declspec(property(get=get_gaaa)) vec<T,4> gaaa; \
  vec<T,4> get_brrr() const { return vec<T,4>(v[2],v[0],v[0],v[0]); } \
  __declspec(property(get=get_brrr)) vec<T,4> brrr; \
  vec<T,4> get_brrg() const { return vec<T,4>(v[2],v[0],v[0],v[1]); } \
  __declspec(property(get=get_brrg)) vec<T,4> brrg; \
  vec<T,4> get_brrb() const { return vec<T,4>(v[2],v[0],v[0],v[2]); } \
  __declspec(property(get=get_brrb)) vec<T,4> brrb; \
  vec<T,4> get_brra() const { return vec<T,4>(v[2],v[0],v[0],v[3]); } \
  __declspec(property(get=get_brra)) vec<T,4> brra; \
  vec<T,4> get_brgr() const { return vec<T,4>(v[2],v[0],v[1],v[0]); } \
  __declspec(property(get=get_brgr)) vec<T,4> brgr; \
  vec<T,4> get_brgg() const { return vec<T,4>(v[2],v[0],v[1],v[1]); } \
  __declspec(property(get=get_brgg)) vec<T,4> brgg; \
  vec<T,4> get_brgb() const { return vec<T,4>(v[2],v[0],v[1],v[2]); } \
  __declspec(property(get=get_brgb)) vec<T,4> brgb; \
  vec<T,4> get_brga() const { return vec<T,4>(v[2],v[0],v[1],v[3]); } \
  void put_brga(const vec<T,4>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_brga,put=put_brga)) vec<T,4> brga; \
  vec<T,4> get_brbr() const { return vec<T,4>(v[2],v[0],v[2],v[0]); } \
  __declspec(property(get=get_brbr)) vec<T,4> brbr; \
  vec<T,4> get_brbg() const { return vec<T,4>(v[2],v[0],v[2],v[1]); } \
  __declspec(property(get=get_brbg)) vec<T,4> brbg; \
  vec<T,4> get_brbb() const { return vec<T,4>(v[2],v[0],v[2],v[2]); } \
  __declspec(property(get=get_brbb)) vec<T,4> brbb; \
  vec<T,4> get_brba() const { return vec<T,4>(v[2],v[0],v[2],v[3]); } \
  __declspec(property(get=get_brba)) vec<T,4> brba; \
  vec<T,4> get_brar() const { return vec<T,4>(v[2],v[0],v[3],v[0]); } \
  __declspec(property(get=get_brar)) vec<T,4> brar; \
  vec<T,4> get_brag() const { return vec<T,4>(v[2],v[0],v[3],v[1]); } \
  void put_brag(const vec<T,4>& o) { v[2]=o.v[0]; v[0]=o.v[1]; v[3]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_brag,put=put_brag)) vec<T,4> brag; \
  vec<T,4> get_brab() const { return vec<T,4>(v[2],v[0],v[3],v[2]); } \
  __declspec(property(get=get_brab)) vec<T,4> brab; \
  vec<T,4> get_braa() const { return vec<T,4>(v[2],v[0],v[3],v[3]); } \
  __declspec(property(get=get_braa)) vec<T,4> braa; \
  vec<T,4> get_bgrr() const { return vec<T,4>(v[2],v[1],v[0],v[0]); } \
  __declspec(property(get=get_bgrr)) vec<T,4> bgrr; \
  vec<T,4> get_bgrg() const { return vec<T,4>(v[2],v[1],v[0],v[1]); } \
  __declspec(property(get=get_bgrg)) vec<T,4> bgrg; \
  vec<T,4> get_bgrb() const { return vec<T,4>(v[2],v[1],v[0],v[2]); } \
  __declspec(property(get=get_bgrb)) vec<T,4> bgrb; \
  vec<T,4> get_bgra() const { return vec<T,4>(v[2],v[1],v[0],v[3]); } \
  void put_bgra(const vec<T,4>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; v[3]=o.v[3]; } \
  __declspec(property(get=get_bgra,put=put_bgra)) vec<T,4> bgra; \
  vec<T,4> get_bggr() const { return vec<T,4>(v[2],v[1],v[1],v[0]); } \
  __declspec(property(get=get_bggr)) vec<T,4> bggr; \
  vec<T,4> get_bggg() const { return vec<T,4>(v[2],v[1],v[1],v[1]); } \
  __declspec(property(get=get_bggg)) vec<T,4> bggg; \
  vec<T,4> get_bggb() const { return vec<T,4>(v[2],v[1],v[1],v[2]); } \
  __declspec(property(get=get_bggb)) vec<T,4> bggb; \
  vec<T,4> get_bgga() const { return vec<T,4>(v[2],v[1],v[1],v[3]); } \
  __declspec(property(get=get_bgga)) vec<T,4> bgga; \
  vec<T,4> get_bgbr() const { return vec<T,4>(v[2],v[1],v[2],v[0]); } \
  __declspec(property(get=get_bgbr)) vec<T,4> bgbr; \
  vec<T,4> get_bgbg() const { return vec<T,4>(v[2],v[1],v[2],v[1]); } \
  __declspec(property(get=get_bgbg)) vec<T,4> bgbg; \
  vec<T,4> get_bgbb() const { return vec<T,4>(v[2],v[1],v[2],v[2]); } \
  __declspec(property(get=get_bgbb)) vec<T,4> bgbb; \
  vec<T,4> get_bgba() const { return vec<T,4>(v[2],v[1],v[2],v[3]); } \
  __declspec(property(get=get_bgba)) vec<T,4> bgba; \
  vec<T,4> get_bgar() const { return vec<T,4>(v[2],v[1],v[3],v[0]); } \
  void put_bgar(const vec<T,4>& o) { v[2]=o.v[0]; v[1]=o.v[1]; v[3]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_bgar,put=put_bgar)) vec<T,4> bgar; \
  vec<T,4> get_bgag() const { return vec<T,4>(v[2],v[1],v[3],v[1]); } \
  __declspec(property(get=get_bgag)) vec<T,4> bgag; \
  vec<T,4> get_bgab() const { return vec<T,4>(v[2],v[1],v[3],v[2]); } \
  __declspec(property(get=get_bgab)) vec<T,4> bgab; \
  vec<T,4> get_bgaa() const { return vec<T,4>(v[2],v[1],v[3],v[3]); } \
  __declspec(property(get=get_bgaa)) vec<T,4> bgaa; \
  vec<T,4> get_bbrr() const { return vec<T,4>(v[2],v[2],v[0],v[0]); } \
  __declspec(property(get=get_bbrr)) vec<T,4> bbrr; \
  vec<T,4> get_bbrg() const { return vec<T,4>(v[2],v[2],v[0],v[1]); } \
  __declspec(property(get=get_bbrg)) vec<T,4> bbrg; \
  vec<T,4> get_bbrb() const { return vec<T,4>(v[2],v[2],v[0],v[2]); } \
  __declspec(property(get=get_bbrb)) vec<T,4> bbrb; \
  vec<T,4> get_bbra() const { return vec<T,4>(v[2],v[2],v[0],v[3]); } \
  __declspec(property(get=get_bbra)) vec<T,4> bbra; \
  vec<T,4> get_bbgr() const { return vec<T,4>(v[2],v[2],v[1],v[0]); } \
  __declspec(property(get=get_bbgr)) vec<T,4> bbgr; \
  vec<T,4> get_bbgg() const { return vec<T,4>(v[2],v[2],v[1],v[1]); } \
  __declspec(property(get=get_bbgg)) vec<T,4> bbgg; \
  vec<T,4> get_bbgb() const { return vec<T,4>(v[2],v[2],v[1],v[2]); } \
  __declspec(property(get=get_bbgb)) vec<T,4> bbgb; \
  vec<T,4> get_bbga() const { return vec<T,4>(v[2],v[2],v[1],v[3]); } \
  __declspec(property(get=get_bbga)) vec<T,4> bbga; \
  vec<T,4> get_bbbr() const { return vec<T,4>(v[2],v[2],v[2],v[0]); } \
  __declspec(property(get=get_bbbr)) vec<T,4> bbbr; \
  vec<T,4> get_bbbg() const { return vec<T,4>(v[2],v[2],v[2],v[1]); } \
  __declspec(property(get=get_bbbg)) vec<T,4> bbbg; \
  vec<T,4> get_bbbb() const { return vec<T,4>(v[2],v[2],v[2],v[2]); } \
  __declspec(property(get=get_bbbb)) vec<T,4> bbbb; \
  vec<T,4> get_bbba() const { return vec<T,4>(v[2],v[2],v[2],v[3]); } \
  __declspec(property(get=get_bbba)) vec<T,4> bbba; \
  vec<T,4> get_bbar() const { return vec<T,4>(v[2],v[2],v[3],v[0]); } \
  __declspec(property(get=get_bbar)) vec<T,4> bbar; \
  vec<T,4> get_bbag() const { return vec<T,4>(v[2],v[2],v[3],v[1]); } \
  __declspec(property(get=get_bbag)) vec<T,4> bbag; \
  vec<T,4> get_bbab() const { return vec<T,4>(v[2],v[2],v[3],v[2]); } \
  __declspec(property(get=get_bbab)) vec<T,4> bbab; \
  vec<T,4> get_bbaa() const { return vec<T,4>(v[2],v[2],v[3],v[3]); } \
  __declspec(property(get=get_bbaa)) vec<T,4> bbaa; \
  vec<T,4> get_barr() const { return vec<T,4>(v[2],v[3],v[0],v[0]); } \
  __declspec(property(get=get_barr)) vec<T,4> barr; \
  vec<T,4> get_barg() const { return vec<T,4>(v[2],v[3],v[0],v[1]); } \
  void put_barg(const vec<T,4>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[0]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_barg,put=put_barg)) vec<T,4> barg; \
  vec<T,4> get_barb() const { return vec<T,4>(v[2],v[3],v[0],v[2]); } \
  __declspec(property(get=get_barb)) vec<T,4> barb; \
  vec<T,4> get_bara() const { return vec<T,4>(v[2],v[3],v[0],v[3]); } \
  __declspec(property(get=get_bara)) vec<T,4> bara; \
  vec<T,4> get_bagr() const { return vec<T,4>(v[2],v[3],v[1],v[0]); } \
  void put_bagr(const vec<T,4>& o) { v[2]=o.v[0]; v[3]=o.v[1]; v[1]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_bagr,put=put_bagr)) vec<T,4> bagr; \
  vec<T,4> get_bagg() const { return vec<T,4>(v[2],v[3],v[1],v[1]); } \
  __declspec(property(get=get_bagg)) vec<T,4> bagg; \
  vec<T,4> get_bagb() const { return vec<T,4>(v[2],v[3],v[1],v[2]); } \
  __declspec(property(get=get_bagb)) vec<T,4> bagb; \
  vec<T,4> get_baga() const { return vec<T,4>(v[2],v[3],v[1],v[3]); } \
  __declspec(property(get=get_baga)) vec<T,4> baga; \
  vec<T,4> get_babr() const { return vec<T,4>(v[2],v[3],v[2],v[0]); } \
  __declspec(property(get=get_babr)) vec<T,4> babr; \
  vec<T,4> get_babg() const { return vec<T,4>(v[2],v[3],v[2],v[1]); } \
  __declspec(property(get=get_babg)) vec<T,4> babg; \
  vec<T,4> get_babb() const { return vec<T,4>(v[2],v[3],v[2],v[2]); } \
  __declspec(property(get=get_babb)) vec<T,4> babb; \
  vec<T,4> get_baba() const { return vec<T,4>(v[2],v[3],v[2],v[3]); } \
  __declspec(property(get=get_baba)) vec<T,4> baba; \
  vec<T,4> get_baar() const { return vec<T,4>(v[2],v[3],v[3],v[0]); } \
  __declspec(property(get=get_baar)) vec<T,4> baar; \
  vec<T,4> get_baag() const { return vec<T,4>(v[2],v[3],v[3],v[1]); } \
  __declspec(property(get=get_baag)) vec<T,4> baag; \
  vec<T,4> get_baab() const { return vec<T,4>(v[2],v[3],v[3],v[2]); } \
  __declspec(property(get=get_baab)) vec<T,4> baab; \
  vec<T,4> get_baaa() const { return vec<T,4>(v[2],v[3],v[3],v[3]); } \
  __declspec(property(get=get_baaa)) vec<T,4> baaa; \
  vec<T,4> get_arrr() const { return vec<T,4>(v[3],v[0],v[0],v[0]); } \
  __declspec(property(get=get_arrr)) vec<T,4> arrr; \
  vec<T,4> get_arrg() const { return vec<T,4>(v[3],v[0],v[0],v[1]); } \
  __declspec(property(get=get_arrg)) vec<T,4> arrg; \
  vec<T,4> get_arrb() const { return vec<T,4>(v[3],v[0],v[0],v[2]); } \
  __declspec(property(get=get_arrb)) vec<T,4> arrb; \
  vec<T,4> get_arra() const { return vec<T,4>(v[3],v[0],v[0],v[3]); } \
  __declspec(property(get=get_arra)) vec<T,4> arra; \
  vec<T,4> get_argr() const { return vec<T,4>(v[3],v[0],v[1],v[0]); } \
  __declspec(property(get=get_argr)) vec<T,4> argr; \
  vec<T,4> get_argg() const { return vec<T,4>(v[3],v[0],v[1],v[1]); } \
  __declspec(property(get=get_argg)) vec<T,4> argg; \
  vec<T,4> get_argb() const { return vec<T,4>(v[3],v[0],v[1],v[2]); } \
  void put_argb(const vec<T,4>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[1]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_argb,put=put_argb)) vec<T,4> argb; \
  vec<T,4> get_arga() const { return vec<T,4>(v[3],v[0],v[1],v[3]); } \
  __declspec(property(get=get_arga)) vec<T,4> arga; \
  vec<T,4> get_arbr() const { return vec<T,4>(v[3],v[0],v[2],v[0]); } \
  __declspec(property(get=get_arbr)) vec<T,4> arbr; \
  vec<T,4> get_arbg() const { return vec<T,4>(v[3],v[0],v[2],v[1]); } \
  void put_arbg(const vec<T,4>& o) { v[3]=o.v[0]; v[0]=o.v[1]; v[2]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_arbg,put=put_arbg)) vec<T,4> arbg; \
  vec<T,4> get_arbb() const { return vec<T,4>(v[3],v[0],v[2],v[2]); } \
  __declspec(property(get=get_arbb)) vec<T,4> arbb; \
  vec<T,4> get_arba() const { return vec<T,4>(v[3],v[0],v[2],v[3]); } \
  __declspec(property(get=get_arba)) vec<T,4> arba; \
  vec<T,4> get_arar() const { return vec<T,4>(v[3],v[0],v[3],v[0]); } \
  __declspec(property(get=get_arar)) vec<T,4> arar; \
  vec<T,4> get_arag() const { return vec<T,4>(v[3],v[0],v[3],v[1]); } \
  __declspec(property(get=get_arag)) vec<T,4> arag; \
  vec<T,4> get_arab() const { return vec<T,4>(v[3],v[0],v[3],v[2]); } \
  __declspec(property(get=get_arab)) vec<T,4> arab; \
  vec<T,4> get_araa() const { return vec<T,4>(v[3],v[0],v[3],v[3]); } \
  __declspec(property(get=get_araa)) vec<T,4> araa; \
  vec<T,4> get_agrr() const { return vec<T,4>(v[3],v[1],v[0],v[0]); } \
  __declspec(property(get=get_agrr)) vec<T,4> agrr; \
  vec<T,4> get_agrg() const { return vec<T,4>(v[3],v[1],v[0],v[1]); } \
  __declspec(property(get=get_agrg)) vec<T,4> agrg; \
  vec<T,4> get_agrb() const { return vec<T,4>(v[3],v[1],v[0],v[2]); } \
  void put_agrb(const vec<T,4>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[0]=o.v[2]; v[2]=o.v[3]; } \
  __declspec(property(get=get_agrb,put=put_agrb)) vec<T,4> agrb; \
  vec<T,4> get_agra() const { return vec<T,4>(v[3],v[1],v[0],v[3]); } \
  __declspec(property(get=get_agra)) vec<T,4> agra; \
  vec<T,4> get_aggr() const { return vec<T,4>(v[3],v[1],v[1],v[0]); } \
  __declspec(property(get=get_aggr)) vec<T,4> aggr; \
  vec<T,4> get_aggg() const { return vec<T,4>(v[3],v[1],v[1],v[1]); } \
  __declspec(property(get=get_aggg)) vec<T,4> aggg; \
  vec<T,4> get_aggb() const { return vec<T,4>(v[3],v[1],v[1],v[2]); } \
  __declspec(property(get=get_aggb)) vec<T,4> aggb; \
  vec<T,4> get_agga() const { return vec<T,4>(v[3],v[1],v[1],v[3]); } \
  __declspec(property(get=get_agga)) vec<T,4> agga; \
  vec<T,4> get_agbr() const { return vec<T,4>(v[3],v[1],v[2],v[0]); } \
  void put_agbr(const vec<T,4>& o) { v[3]=o.v[0]; v[1]=o.v[1]; v[2]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_agbr,put=put_agbr)) vec<T,4> agbr; \
  vec<T,4> get_agbg() const { return vec<T,4>(v[3],v[1],v[2],v[1]); } \
  __declspec(property(get=get_agbg)) vec<T,4> agbg; \
  vec<T,4> get_agbb() const { return vec<T,4>(v[3],v[1],v[2],v[2]); } \
  __declspec(property(get=get_agbb)) vec<T,4> agbb; \
  vec<T,4> get_agba() const { return vec<T,4>(v[3],v[1],v[2],v[3]); } \
  __declspec(property(get=get_agba)) vec<T,4> agba; \
  vec<T,4> get_agar() const { return vec<T,4>(v[3],v[1],v[3],v[0]); } \
  __declspec(property(get=get_agar)) vec<T,4> agar; \
  vec<T,4> get_agag() const { return vec<T,4>(v[3],v[1],v[3],v[1]); } \
  __declspec(property(get=get_agag)) vec<T,4> agag; \
  vec<T,4> get_agab() const { return vec<T,4>(v[3],v[1],v[3],v[2]); } \
  __declspec(property(get=get_agab)) vec<T,4> agab; \
  vec<T,4> get_agaa() const { return vec<T,4>(v[3],v[1],v[3],v[3]); } \
  __declspec(property(get=get_agaa)) vec<T,4> agaa; \
  vec<T,4> get_abrr() const { return vec<T,4>(v[3],v[2],v[0],v[0]); } \
  __declspec(property(get=get_abrr)) vec<T,4> abrr; \
  vec<T,4> get_abrg() const { return vec<T,4>(v[3],v[2],v[0],v[1]); } \
  void put_abrg(const vec<T,4>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[0]=o.v[2]; v[1]=o.v[3]; } \
  __declspec(property(get=get_abrg,put=put_abrg)) vec<T,4> abrg; \
  vec<T,4> get_abrb() const { return vec<T,4>(v[3],v[2],v[0],v[2]); } \
  __declspec(property(get=get_abrb)) vec<T,4> abrb; \
  vec<T,4> get_abra() const { return vec<T,4>(v[3],v[2],v[0],v[3]); } \
  __declspec(property(get=get_abra)) vec<T,4> abra; \
  vec<T,4> get_abgr() const { return vec<T,4>(v[3],v[2],v[1],v[0]); } \
  void put_abgr(const vec<T,4>& o) { v[3]=o.v[0]; v[2]=o.v[1]; v[1]=o.v[2]; v[0]=o.v[3]; } \
  __declspec(property(get=get_abgr,put=put_abgr)) vec<T,4> abgr; \
  vec<T,4> get_abgg() const { return vec<T,4>(v[3],v[2],v[1],v[1]); } \
  __declspec(property(get=get_abgg)) vec<T,4> abgg; \
  vec<T,4> get_abgb() const { return vec<T,4>(v[3],v[2],v[1],v[2]); } \
  __declspec(property(get=get_abgb)) vec<T,4> abgb; \
  vec<T,4> get_abga() const { return vec<T,4>(v[3],v[2],v[1],v[3]); } \
  __declspec(property(get=get_abga)) vec<T,4> abga; \
  vec<T,4> get_abbr() const { return vec<T,4>(v[3],v[2],v[2],v[0]); } \
  __declspec(property(get=get_abbr)) vec<T,4> abbr; \
  vec<T,4> get_abbg() const { return vec<T,4>(v[3],v[2],v[2],v[1]); } \
  __declspec(property(get=get_abbg)) vec<T,4> abbg; \
  vec<T,4> get_abbb() const { return vec<T,4>(v[3],v[2],v[2],v[2]); } \
  __declspec(property(get=get_abbb)) vec<T,4> abbb; \
  vec<T,4> get_abba() const { return vec<T,4>(v[3],v[2],v[2],v[3]); } \
  __declspec(property(get=get_abba)) vec<T,4> abba; \
  vec<T,4> get_abar() const { return vec<T,4>(v[3],v[2],v[3],v[0]); } \
  __declspec(property(get=get_abar)) vec<T,4> abar; \
  vec<T,4> get_abag() const { return vec<T,4>(v[3],v[2],v[3],v[1]); } \
  __declspec(property(get=get_abag)) vec<T,4> abag; \
  vec<T,4> get_abab() const { return vec<T,4>(v[3],v[2],v[3],v[2]); } \
  __declspec(property(get=get_abab)) vec<T,4> abab; \
  vec<T,4> get_abaa() const { return vec<T,4>(v[3],v[2],v[3],v[3]); } \
  __declspec(property(get=get_abaa)) vec<T,4> abaa; \
  vec<T,4> get_aarr() const { return vec<T,4>(v[3],v[3],v[0],v[0]); } \
  __declspec(property(get=get_aarr)) vec<T,4> aarr; \
  vec<T,4> get_aarg() const { return vec<T,4>(v[3],v[3],v[0],v[1]); } \
  __declspec(property(get=get_aarg)) vec<T,4> aarg; \
  vec<T,4> get_aarb() const { return vec<T,4>(v[3],v[3],v[0],v[2]); } \
  __declspec(property(get=get_aarb)) vec<T,4> aarb; \
  vec<T,4> get_aara() const { return vec<T,4>(v[3],v[3],v[0],v[3]); } \
  __declspec(property(get=get_aara)) vec<T,4> aara; \
  vec<T,4> get_aagr() const { return vec<T,4>(v[3],v[3],v[1],v[0]); } \
  __declspec(property(get=get_aagr)) vec<T,4> aagr; \
  vec<T,4> get_aagg() const { return vec<T,4>(v[3],v[3],v[1],v[1]); } \
  __declspec(property(get=get_aagg)) vec<T,4> aagg; \
  vec<T,4> get_aagb() const { return vec<T,4>(v[3],v[3],v[1],v[2]); } \
  __declspec(property(get=get_aagb)) vec<T,4> aagb; \
  vec<T,4> get_aaga() const { return vec<T,4>(v[3],v[3],v[1],v[3]); } \
  __declspec(property(get=get_aaga)) vec<T,4> aaga; \
  vec<T,4> get_aabr() const { return vec<T,4>(v[3],v[3],v[2],v[0]); } \
  __declspec(property(get=get_aabr)) vec<T,4> aabr; \
  vec<T,4> get_aabg() const { return vec<T,4>(v[3],v[3],v[2],v[1]); } \
  __declspec(property(get=get_aabg)) vec<T,4> aabg; \
  vec<T,4> get_aabb() const { return vec<T,4>(v[3],v[3],v[2],v[2]); } \
  __declspec(property(get=get_aabb)) vec<T,4> aabb; \
  vec<T,4> get_aaba() const { return vec<T,4>(v[3],v[3],v[2],v[3]); } \
  __declspec(property(get=get_aaba)) vec<T,4> aaba; \
  vec<T,4> get_aaar() const { return vec<T,4>(v[3],v[3],v[3],v[0]); } \
  __declspec(property(get=get_aaar)) vec<T,4> aaar; \
  vec<T,4> get_aaag() const { return vec<T,4>(v[3],v[3],v[3],v[1]); } \
  __declspec(property(get=get_aaag)) vec<T,4> aaag; \
  vec<T,4> get_aaab() const { return vec<T,4>(v[3],v[3],v[3],v[2]); } \
  __declspec(property(get=get_aaab)) vec<T,4> aaab; \
  vec<T,4> get_aaaa() const { return vec<T,4>(v[3],v[3],v[3],v[3]); } \
  __declspec(property(get=get_aaaa)) vec<T,4> aaaa;
